#include "loops/small_values.h"

namespace regraph::loops {
namespace {

using source::as;
using source::BinaryOperator;
using source::ExprPtr;
using source::UnaryOperator;
using Value = std::optional<std::int64_t>;

constexpr std::int64_t kLargest = std::int64_t{1} << 31;  // products of two stay in 64 bits

Value combined(BinaryOperator op, std::int64_t a, std::int64_t b) {
  switch (op) {
    case BinaryOperator::add:
      return a + b;
    case BinaryOperator::subtract:
      return a - b;
    case BinaryOperator::multiply:
      return a * b;
    case BinaryOperator::divide:
      return b == 0 ? Value() : a / b;
    case BinaryOperator::remainder:
      return b == 0 ? Value() : a % b;
    case BinaryOperator::less:
      return a < b;
    case BinaryOperator::less_equal:
      return a <= b;
    case BinaryOperator::greater:
      return a > b;
    case BinaryOperator::greater_equal:
      return a >= b;
    case BinaryOperator::equal:
      return a == b;
    case BinaryOperator::not_equal:
      return a != b;
    case BinaryOperator::logical_and:
      return a != 0 && b != 0;
    case BinaryOperator::logical_or:
      return a != 0 || b != 0;
    case BinaryOperator::bit_and:
      return a & b;
    case BinaryOperator::bit_or:
      return a | b;
    case BinaryOperator::bit_xor:
      return a ^ b;
    case BinaryOperator::shift_left:
      return a < 0 || b < 0 || b > 20 ? Value() : a << b;
    case BinaryOperator::shift_right:
      return b < 0 || b > 31 ? Value() : a >> b;
  }
  return std::nullopt;
}

Value value_of_binary(const source::Binary& binary, const Values& values,
                      const source::Analysis& analysis) {
  const Value left = value_at(binary.left, values, analysis);
  if (binary.op == BinaryOperator::logical_and && left == 0) return 0;
  if (binary.op == BinaryOperator::logical_or && left && *left != 0) return 1;
  const Value right = value_at(binary.right, values, analysis);
  if (!left || !right) return std::nullopt;
  const Value result = combined(binary.op, *left, *right);
  if (!result || *result > kLargest || *result < -kLargest) return std::nullopt;
  return result;
}

}  // namespace

Value value_at(const ExprPtr& expr, const Values& values, const source::Analysis& analysis) {
  if (!expr) return std::nullopt;
  if (expr->type && is_floating(*expr->type)) return std::nullopt;
  if (const auto* literal = as<source::IntegerLiteral>(expr)) return literal->value;
  if (const auto* variable = as<source::VariableReference>(expr)) {
    if (const auto known = values.find(variable->name); known != values.end()) return known->second;
    if (!analysis.is_single_definition(variable->name)) return std::nullopt;
    return value_at(analysis.definition(variable->name), values, analysis);
  }
  if (const auto* cast = as<source::Cast>(expr)) {
    const bool is_integer = cast->type && !is_floating(*cast->type);
    return is_integer ? value_at(cast->operand, values, analysis) : std::nullopt;
  }
  if (const auto* unary = as<source::Unary>(expr)) {
    const Value inner = value_at(unary->operand, values, analysis);
    if (!inner) return std::nullopt;
    if (unary->op == UnaryOperator::minus) return -*inner;
    if (unary->op == UnaryOperator::plus) return inner;
    if (unary->op == UnaryOperator::logical_not) return *inner == 0;
    return std::nullopt;
  }
  if (const auto* binary = as<source::Binary>(expr))
    return value_of_binary(*binary, values, analysis);
  if (const auto* choice = as<source::Conditional>(expr)) {
    const Value condition = value_at(choice->condition, values, analysis);
    if (!condition) return std::nullopt;
    return value_at(*condition != 0 ? choice->then : choice->otherwise, values, analysis);
  }
  return std::nullopt;
}

}  // namespace regraph::loops
