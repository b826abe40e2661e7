#include "source/clang_nodes.h"

#include "source/build.h"
#include "source/clang_expressions.h"

#include <memory>
#include <string>
#include <utility>

namespace regraph::source {
namespace {

// Spelling of an integer literal's suffix by its type.
std::string suffix_of(ScalarType type) {
  switch (type) {
    case ScalarType::u32:
      return "u";
    case ScalarType::i64:
      return "ll";
    case ScalarType::u64:
      return "ull";
    default:
      return "";
  }
}

}  // namespace

ExprPtr typed(const ExprPtr& expr, clang::QualType type) {
  const auto scalar = scalar_type_of(type);
  return scalar ? with_type(expr, scalar) : expr;
}

ExprPtr integer_literal(std::int64_t value, clang::QualType type) {
  const ScalarType scalar = scalar_type_of(type).value_or(ScalarType::i32);
  const std::string digits = scalar == ScalarType::u64
                                 ? std::to_string(static_cast<std::uint64_t>(value))
                                 : std::to_string(value);
  return integer(value, digits + suffix_of(scalar), scalar);
}

ExprPtr plain_unary(UnaryOperator op, ExprPtr operand) {
  return std::make_shared<Unary>(op, std::move(operand), std::nullopt);
}

ExprPtr plain_binary(BinaryOperator op, ExprPtr left, ExprPtr right) {
  return std::make_shared<Binary>(op, std::move(left), std::move(right), std::nullopt);
}

ExprPtr plain_subscript(ExprPtr base, ExprPtr index) {
  return std::make_shared<Subscript>(std::move(base), std::move(index), std::nullopt);
}

}  // namespace regraph::source
