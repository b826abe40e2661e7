#include "rewrite/analysis/neighbour_values.h"

#include "rewrite/analysis/vector_copy.h"
#include "source/build.h"
#include "source/match.h"
#include "source/printer.h"
#include "source/walk.h"

#include <algorithm>

namespace regraph::rewrite {

bool NeighbourValues::is_common(const ExprPtr& expr) {
  if (is<IntegerLiteral>(expr) || is<FloatingLiteral>(expr)) return true;
  // The element's own thread and block are not those that handle its vector.
  if (const auto* builtin = as<Builtin>(expr))
    return builtin->name != "threadIdx.x" && builtin->name != "blockIdx.x";
  if (const auto* variable = as<VariableReference>(expr)) return is_common_name(variable->name);
  if (const auto* cast = as<Cast>(expr)) return cast->type && is_common(cast->operand);
  if (const auto* unary = as<Unary>(expr))
    return unary->op != UnaryOperator::address_of && is_common(unary->operand);
  if (const auto* choice = as<Conditional>(expr))
    return is_common(choice->condition) && is_common(choice->then) && is_common(choice->otherwise);
  if (const auto* load = as<Subscript>(expr)) {
    const auto* array = as<VariableReference>(load->base);
    return array != nullptr && analysis_.is_global_pointer(array->name) &&
           !analysis_.is_written(array->name) && is_common(load->index);
  }
  const auto* binary = as<Binary>(expr);
  return binary != nullptr &&
         (is_whole_quotient(*binary) || (is_common(binary->left) && is_common(binary->right)));
}

std::optional<Polynomial> NeighbourValues::place(const ExprPtr& expr) {
  if (is_element(expr)) return Polynomial::symbol(element_);
  if (const auto* binary = as<Binary>(expr)) {
    if (binary->op == BinaryOperator::remainder) return place_of_remainder(*binary);
    const auto left = place(binary->left);
    const auto right = left ? place(binary->right) : std::nullopt;
    if (right && binary->op == BinaryOperator::add) return *left + *right;
    if (right && binary->op == BinaryOperator::subtract) return *left - *right;
    if (right && binary->op == BinaryOperator::multiply) return *left * *right;
  }
  const auto* cast = as<Cast>(expr);
  if (cast != nullptr && cast->type && !is_floating(*cast->type)) return place(cast->operand);
  if (auto known = analysis_.polynomial(expr); known && !depends(*known)) return known;
  const auto* variable = as<VariableReference>(expr);
  const ExprPtr definition = variable != nullptr ? analysis_.definition(variable->name) : nullptr;
  if (definition) return place(definition);
  return is_common(expr) ? std::optional(common_symbol(expr)) : std::nullopt;
}

bool NeighbourValues::is_divisible(const Polynomial& polynomial) {
  std::set<std::string> divisible = divisible_;
  if (!require_divisible(polynomial, width_, facts_of(kernel_), divisible)) return false;
  divisible_ = std::move(divisible);
  return true;
}

bool NeighbourValues::is_common_name(const std::string& name) {
  if (name == element_) return false;
  if (kernel_.parameter(name) != nullptr) return !analysis_.is_written(name);
  const ExprPtr definition = analysis_.definition(name);
  if (!definition) return false;
  const auto known = common_names_.find(name);
  if (known != common_names_.end()) return known->second;
  return common_names_[name] = is_common(definition);
}

bool NeighbourValues::is_element(const ExprPtr& expr) const {
  if (is_named(expr, element_)) return true;
  if (const auto* cast = as<Cast>(expr))
    return cast->type && !is_floating(*cast->type) && is_element(cast->operand);
  const auto* variable = as<VariableReference>(expr);
  const ExprPtr definition = variable != nullptr ? analysis_.definition(variable->name) : nullptr;
  return definition && is_element(definition);
}

bool NeighbourValues::is_whole_quotient(const Binary& expr) {
  if (!is_element(expr.left)) return false;
  const auto right = analysis_.polynomial(expr.right);
  if (!right) return false;
  if (expr.op == BinaryOperator::shift_right) {
    const auto bits = right->constant();
    return bits && *bits >= 0 && *bits < 31 && (std::int64_t{1} << *bits) % width_ == 0;
  }
  return expr.op == BinaryOperator::divide && is_made_of_sizes(*right) && is_divisible(*right);
}

std::optional<Polynomial> NeighbourValues::place_of_remainder(const Binary& expr) {
  const ExprPtr quotient = source::divide(expr.left, expr.right);
  const auto* division = as<Binary>(quotient);
  if (division == nullptr) return std::nullopt;
  if (is_element(expr.left) && is_whole_quotient(*division)) {
    return Polynomial::symbol(element_) -
           *analysis_.polynomial(expr.right) * quotient_symbol(*analysis_.polynomial(expr.right));
  }
  const bool common = is_common(expr.left) && is_common(expr.right);
  return common ? std::optional(Polynomial::symbol(kCommon + print(written_out(division->left)) +
                                                   " % " + print(written_out(division->right))))
                : std::nullopt;
}

Polynomial NeighbourValues::common_symbol(const ExprPtr& expr) {
  const auto* binary = as<Binary>(expr);
  if (binary != nullptr && binary->op == BinaryOperator::divide && is_element(binary->left))
    return quotient_symbol(*analysis_.polynomial(binary->right));
  return Polynomial::symbol(kCommon + print(written_out(expr)));
}

Polynomial NeighbourValues::quotient_symbol(const Polynomial& divisor) {
  return Polynomial::symbol(std::string(kCommon) + "element / " + print(to_expression(divisor)));
}

ExprPtr NeighbourValues::written_out(const ExprPtr& expr) const {
  return rewrite_expr(expr, [&](const ExprPtr& node) -> std::optional<ExprPtr> {
    const auto* variable = as<VariableReference>(node);
    if (variable == nullptr || variable->name == element_) return std::nullopt;
    const ExprPtr definition = analysis_.definition(variable->name);
    return definition ? std::optional(written_out(definition)) : std::nullopt;
  });
}

bool NeighbourValues::is_made_of_sizes(const Polynomial& polynomial) const {
  const auto symbols = polynomial.symbols();
  return std::all_of(symbols.begin(), symbols.end(), [&](const std::string& symbol) {
    return kernel_.parameter(symbol) != nullptr;
  });
}

bool NeighbourValues::depends(const Polynomial& polynomial) {
  return polynomial.mentions("threadIdx.x") || polynomial.mentions("blockIdx.x");
}

}  // namespace regraph::rewrite
