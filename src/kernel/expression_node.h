// The tree behind IntegerExpression. For expression.cpp, expression_parser.cpp and whoever prints
// it in another language.
#pragma once

#include "kernel/expression.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace regraph {

namespace expression_internal {

enum class Kind : std::uint8_t {
  constant,
  symbol,
  sum,         // any number of operands >= 2, a constant comes last
  product,     // any number of operands >= 2, a constant comes first
  difference,  // all others have two operands
  quotient,
  remainder,
  ceiling,  // cdiv
  minimum,
  maximum,
};

}  // namespace expression_internal

struct IntegerExpression::Node {
  expression_internal::Kind kind = expression_internal::Kind::constant;
  std::int64_t value = 0;  // constant
  std::string name;        // symbol
  std::vector<std::shared_ptr<const Node>> operands;
};

namespace expression_internal {

using NodePointer = std::shared_ptr<const IntegerExpression::Node>;

// Simplifying constructors: constants are folded where that cannot overflow.
[[nodiscard]] NodePointer binary(Kind kind, const NodePointer& a, const NodePointer& b);
[[nodiscard]] NodePointer constant(std::int64_t value);
[[nodiscard]] NodePointer symbol(std::string name);

// Recursive descent; errors as IntegerExpression::parse.
[[nodiscard]] Result<NodePointer> parse(std::string_view text);

}  // namespace expression_internal

}  // namespace regraph
