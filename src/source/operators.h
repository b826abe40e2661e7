// Operators of CUDA C++ that expressions and assignments use, with their spelling and precedence.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace regraph::source {

enum class UnaryOperator : std::uint8_t { minus, plus, bit_not, logical_not, address_of };

enum class BinaryOperator : std::uint8_t {
  add,
  subtract,
  multiply,
  divide,
  remainder,
  shift_left,
  shift_right,
  bit_and,
  bit_or,
  bit_xor,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
  logical_and,
  logical_or,
};

// target op value; ++ and -- arrive as += 1 and -= 1.
enum class AssignmentOperator : std::uint8_t {
  assign,
  add,
  subtract,
  multiply,
  divide,
  remainder,
  shift_left,
  shift_right,
  bit_and,
  bit_or,
  bit_xor,
};

// C++ operator precedence; a larger number binds tighter.
enum Precedence : int {
  kConditionalPrecedence = 3,
  kLogicalOrPrecedence,
  kLogicalAndPrecedence,
  kBitOrPrecedence,
  kBitXorPrecedence,
  kBitAndPrecedence,
  kEqualityPrecedence,
  kRelationalPrecedence,
  kShiftPrecedence,
  kAdditivePrecedence,
  kMultiplicativePrecedence,
  kUnaryPrecedence,
  kPostfixPrecedence,
};

// "+", "<=", ...
[[nodiscard]] std::string_view spelling(UnaryOperator op);
[[nodiscard]] std::string_view spelling(BinaryOperator op);
[[nodiscard]] std::string_view spelling(AssignmentOperator op);  // "=", "+=", ...

// Nothing for a spelling of no such operator.
[[nodiscard]] std::optional<UnaryOperator> unary_operator(std::string_view spelling);
[[nodiscard]] std::optional<BinaryOperator> binary_operator(std::string_view spelling);
[[nodiscard]] std::optional<AssignmentOperator> assignment_operator(std::string_view spelling);

[[nodiscard]] int precedence(BinaryOperator op);
// < <= > >= == !=
[[nodiscard]] bool is_comparison(BinaryOperator op);
// Comparisons, && and ||.
[[nodiscard]] bool gives_boolean(BinaryOperator op);
// !(a op b) is a result b, for integers. Nothing for what is no comparison.
[[nodiscard]] std::optional<BinaryOperator> negated(BinaryOperator op);

// a op= b is a = a op b. Nothing for plain assignment, and for operators without one.
[[nodiscard]] std::optional<BinaryOperator> operation_of(AssignmentOperator op);
[[nodiscard]] std::optional<AssignmentOperator> compound(BinaryOperator op);

// The order with its sides exchanged: a < b is b > a. Other operators as they are.
[[nodiscard]] BinaryOperator mirrored(BinaryOperator op);

}  // namespace regraph::source
