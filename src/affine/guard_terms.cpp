#include "affine/guard_terms.h"

#include "affine/block_geometry.h"
#include "source/build.h"
#include "source/walk.h"

#include <algorithm>

namespace regraph::affine {

namespace {

bool is_order(BinaryOperator op) {
  return op == BinaryOperator::less || op == BinaryOperator::less_equal ||
         op == BinaryOperator::greater || op == BinaryOperator::greater_equal;
}

bool is_unsigned(const ExprPtr& expr) {
  return !expr->type || *expr->type == ScalarType::u32 || *expr->type == ScalarType::u64;
}

bool is_wide(const ExprPtr& expr) {
  return expr->type && size_in_bytes(*expr->type) == sizeof(std::int64_t);
}

bool is_short(const std::optional<ScalarType>& scalar) {
  return scalar && size_in_bytes(*scalar) < sizeof(std::int32_t);
}

}  // namespace

GuardTerms::GuardTerms(const Kernel& kernel, const Analysis& analysis, const Dim3& block,
                       bool of_blocks)
    : kernel_(kernel), analysis_(analysis), block_(block) {
  for (int axis = 0; axis < 3 && of_blocks; ++axis) {
    const std::string thread = "threadIdx." + std::string(kAxes[static_cast<std::size_t>(axis)]);
    varying_.insert(thread);
    ranges_.add_range(thread, Polynomial(0),
                      Polynomial(static_cast<std::int64_t>(extent(block, axis)) - 1));
  }
  walk(kernel.body, [&](const Stmt& stmt) { note_loop(stmt); });
}

std::optional<GuardTerm> GuardTerms::term_of(const Expr& condition) const {
  const auto* comparison = as<Binary>(condition);
  if (comparison == nullptr) return std::nullopt;
  const ExprPtr& left = comparison->left;
  const ExprPtr& right = comparison->right;
  const bool wide = is_wide(left) || is_wide(right);
  if (loses_bits(left, wide) || loses_bits(right, wide)) return std::nullopt;
  const auto first = polynomial(left);
  const auto second = polynomial(right);
  const auto order = first && second ? order_of(comparison->op, *first, *second) : std::nullopt;
  if (!order) return std::nullopt;
  return GuardTerm{*first, *second, *order, wide, is_unsigned(left) || is_unsigned(right)};
}

void GuardTerms::note_loop(const Stmt& stmt) {
  const auto counted = counted_loop_of(stmt);
  if (!counted) return;
  varying_.insert(counted->name);
  const auto first = analysis_.polynomial(counted->first);
  const auto limit = analysis_.polynomial(counted->limit);
  if (first && limit) {
    ranges_.add_range(counted->name, *first, *limit - Polynomial(1));
  } else {
    ranges_.add_unknown_range(counted->name);
  }
}

// What is to be asked for the comparison to hold: the order itself; for !=, the side of the other
// number on which the inside is: above a constant, below a size. Nothing for other operators.
std::optional<BinaryOperator> GuardTerms::order_of(BinaryOperator op, const Polynomial& left,
                                                   const Polynomial& right) const {
  if (is_order(op)) return op;
  if (op != BinaryOperator::not_equal) return std::nullopt;
  const bool is_left = depends_on_threads(left);
  if (is_left == depends_on_threads(right)) return std::nullopt;
  const bool is_above = (is_left ? right : left).constant().has_value();
  return is_above == is_left ? BinaryOperator::greater : BinaryOperator::less;
}

// Whether what is compared may be another number than its polynomial: cut to fewer bits than an
// index has, or taken for a number without a sign and widened then.
bool GuardTerms::loses_bits(const ExprPtr& expr, bool wide) const {
  if (const auto* variable = as<VariableReference>(expr)) {
    const Variable* local = analysis_.local(variable->name);
    const ExprPtr value = analysis_.definition(variable->name);
    return (local != nullptr && is_short(local->scalar)) || (value && loses_bits(value, wide));
  }
  const bool is_cast = is<Cast>(expr);
  if (is_cast && is_short(expr->type)) return true;
  const bool computes = is_cast || is<Binary>(expr) || is<Unary>(expr);
  if (wide && computes && expr->type == ScalarType::u32) {
    const auto value = polynomial(expr);
    if (!value || !is_never_negative(*value)) return true;
  }
  bool loses = false;
  for_each_operand(*expr, [&](const ExprPtr& operand) {
    loses = loses || (operand && loses_bits(operand, wide));
  });
  return loses;
}

// difference op 0, with what is subtracted on the right. Signed, whatever the parameters are.
ExprPtr GuardTerms::ordered(const Polynomial& difference, BinaryOperator op, bool wide) const {
  for (const std::string& symbol : difference.symbols()) {
    const KernelParameter* parameter = kernel_.parameter(symbol);
    wide = wide || (parameter != nullptr && parameter->scalar == ScalarType::u32);
  }
  Polynomial left;
  Polynomial right;
  for (const auto& [monomial, coefficient] : difference.terms()) {
    Polynomial term(coefficient < 0 ? -coefficient : coefficient);
    for (const std::string& symbol : monomial)
      term = term * Polynomial::symbol(symbol);
    (coefficient < 0 ? right : left) = (coefficient < 0 ? right : left) + term;
  }
  return spelt_out(binary(op, to_expression(left, wide), to_expression(right, wide)));
}

// With names of sizes written out: the condition for a block stands in front of all names that
// the kernel gives.
ExprPtr GuardTerms::spelt_out(const ExprPtr& expr) const {
  return rewrite_expr(expr, [&](const ExprPtr& node) -> std::optional<ExprPtr> {
    const auto* variable = as<VariableReference>(node);
    if (variable == nullptr || !is_own_name(variable->name)) return std::nullopt;
    const ExprPtr value = analysis_.definition(variable->name);
    return value ? std::optional(spelt_out(value)) : std::nullopt;
  });
}

bool GuardTerms::is_own_name(const std::string& name) const {
  return analysis_.local(name) != nullptr && analysis_.loop(name) == nullptr;
}

// Whether the value can be asked for in front of the kernel's code.
bool GuardTerms::is_made_of_parameters(const std::string& name) const {
  const ExprPtr value = analysis_.definition(name);
  const Variable* local = analysis_.local(name);
  if (!value || local == nullptr || local->scalar != value->type) return false;
  bool result = true;
  walk(value, [&](const Expr& part) {
    const auto* variable = as<VariableReference>(part);
    if (variable != nullptr)
      result = result && (kernel_.parameter(variable->name) != nullptr ||
                          (is_own_name(variable->name) && is_made_of_parameters(variable->name)));
    result = result && !is<Subscript>(part) && !is<Call>(part) && !is<Builtin>(part);
  });
  return result;
}

std::optional<Polynomial> GuardTerms::polynomial(const ExprPtr& expr) const {
  const auto found = analysis_.polynomial(expr);
  if (found && std::ranges::any_of(found->symbols(), [&](const std::string& name) {
        return is_own_name(name) && !is_made_of_parameters(name);
      })) {
    return std::nullopt;
  }
  if (!found) return std::nullopt;
  return with_block_extents(*found, block_);
}

bool GuardTerms::varies(const Polynomial& difference) const {
  const auto symbols = difference.symbols();
  return std::any_of(symbols.begin(), symbols.end(),
                     [&](const std::string& symbol) { return varying_.contains(symbol); });
}

std::optional<Polynomial> GuardTerms::extreme(Polynomial value, bool largest) const {
  return ranges_.extreme(std::move(value), largest);
}

bool GuardTerms::depends_on_threads(const Polynomial& difference) const {
  const auto symbols = difference.symbols();
  return varies(difference) || std::any_of(symbols.begin(), symbols.end(), [](const auto& name) {
           return name.starts_with("threadIdx.") || name.starts_with("blockIdx.");
         });
}

bool is_never_negative(const Polynomial& side) {
  return std::all_of(side.terms().begin(), side.terms().end(), [](const auto& term) {
    const auto& [monomial, coefficient] = term;
    return coefficient >= 0 &&
           std::all_of(monomial.begin(), monomial.end(), [](const std::string& symbol) {
             return symbol.find('.') != std::string::npos;
           });
  });
}

}  // namespace regraph::affine
