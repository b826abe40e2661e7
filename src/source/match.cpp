#include "source/match.h"

namespace regraph::source {

bool is_named(const Expr& expr, std::string_view name) {
  const auto* variable = as<VariableReference>(expr);
  return variable != nullptr && variable->name == name;
}

bool is_named(const ExprPtr& expr, std::string_view name) {
  return expr && is_named(*expr, name);
}

bool is_builtin(const Expr& expr, std::string_view name) {
  const auto* builtin = as<Builtin>(expr);
  return builtin != nullptr && builtin->name == name;
}

bool is_number(const ExprPtr& expr, std::int64_t value) {
  const auto* literal = as<IntegerLiteral>(expr);
  return literal != nullptr && literal->value == value;
}

bool is_zero(const ExprPtr& expr) {
  if (const auto* cast = as<Cast>(expr)) return is_zero(cast->operand);
  if (is_number(expr, 0)) return true;
  if (const auto* list = as<InitializerList>(expr)) return list->values.empty() && list->type;
  const auto* literal = as<FloatingLiteral>(expr);
  if (literal == nullptr) return false;
  // INFINITY is a literal, too, and "0x1p3" is eight.
  const std::string& spelling = literal->spelling;
  const std::string mantissa = spelling.substr(0, spelling.find_first_of("eE"));
  return mantissa.find_first_of("0") != std::string::npos &&
         mantissa.find_first_not_of("0.fFlL") == std::string::npos;
}

const Unary* as_unary(const Expr& expr, UnaryOperator op) {
  const auto* unary = as<Unary>(expr);
  return unary != nullptr && unary->op == op ? unary : nullptr;
}

const Unary* as_unary(const ExprPtr& expr, UnaryOperator op) {
  return expr ? as_unary(*expr, op) : nullptr;
}

const Binary* as_binary(const ExprPtr& expr, BinaryOperator op) {
  const auto* binary = as<Binary>(expr);
  return binary != nullptr && binary->op == op ? binary : nullptr;
}

ExprPtr addressed(const Expr& expr) {
  const Unary* address = as_unary(expr, UnaryOperator::address_of);
  return address != nullptr ? address->operand : nullptr;
}

}  // namespace regraph::source
