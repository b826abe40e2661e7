#include "source/match.h"

#include "source/build.h"

#include <algorithm>
#include <array>
#include <string_view>

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

ExprPtr converted(const ExprPtr& expr) {
  static constexpr std::array<std::string_view, 6> kFunctions = {
      "__half2float",     "__float2half",     "__float2half_rn",
      "__bfloat162float", "__float2bfloat16", "__float2bfloat16_rn"};
  if (const auto* cast = as<Cast>(expr)) return cast->operand;
  const auto* call = as<Call>(expr);
  const bool converts = call != nullptr && call->arguments.size() == 1 &&
                        std::ranges::find(kFunctions, call->function) != kFunctions.end();
  return converts ? call->arguments[0] : nullptr;
}

bool is_zero(const ExprPtr& expr) {
  if (const ExprPtr inner = converted(expr)) return is_zero(inner);
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

const Call* as_multiply_add(const ExprPtr& expr) {
  const auto* call = as<Call>(expr);
  const bool is_fused = call != nullptr && call->arguments.size() == 3 &&
                        (call->function == "fma" || call->function == "fmaf" ||
                         call->function == "__fmaf_rn" || call->function == "__fma_rn");
  return is_fused ? call : nullptr;
}

std::optional<AddedTerm> added_term(const ExprPtr& target, AssignmentOperator op,
                                    const ExprPtr& value) {
  if (op == AssignmentOperator::add) return AddedTerm{value, false};
  if (op == AssignmentOperator::subtract) return AddedTerm{value, true};
  if (op != AssignmentOperator::assign) return std::nullopt;
  if (const auto* sum = as_binary(value, BinaryOperator::add)) {
    if (equal(sum->left, target)) return AddedTerm{sum->right, false};
    if (equal(sum->right, target)) return AddedTerm{sum->left, false};
  }
  if (const auto* difference = as_binary(value, BinaryOperator::subtract)) {
    if (equal(difference->left, target)) return AddedTerm{difference->right, true};
  }
  const Call* fused = as_multiply_add(value);
  if (fused == nullptr || !equal(fused->arguments[2], target)) return std::nullopt;
  return AddedTerm{multiply(fused->arguments[0], fused->arguments[1]), false};
}

std::optional<AddedTerm> added_term(const Assignment& assignment) {
  return added_term(assignment.target, assignment.op, assignment.value);
}

ExprPtr widened(const ExprPtr& expr) {
  const ExprPtr inner = converted(expr);
  const bool keeps_values =
      inner && inner->type && expr->type && holds_values_of(*expr->type, *inner->type);
  return keeps_values ? widened(inner) : expr;
}

ExprPtr addressed(const Expr& expr) {
  const Unary* address = as_unary(expr, UnaryOperator::address_of);
  return address != nullptr ? address->operand : nullptr;
}

}  // namespace regraph::source
