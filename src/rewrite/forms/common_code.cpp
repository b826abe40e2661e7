#include "rewrite/forms/common_code.h"

#include "source/build.h"
#include "source/polynomial.h"
#include "source/walk.h"

#include <memory>
#include <utility>
#include <vector>

namespace regraph::rewrite {

namespace {

bool is_narrow(const ExprPtr& expr) {
  return any_expression(expr, [&](const Expr& part) {
    return is<Cast>(part) && part.type && size_in_bytes(*part.type) < 4;
  });
}

// Of 32 bits or 64.
bool is_integer(ScalarType type) {
  return type == ScalarType::i32 || type == ScalarType::u32 || type == ScalarType::i64 ||
         type == ScalarType::u64;
}

}  // namespace

CommonCode::CommonCode(const Analysis& analysis, std::string counter, std::int64_t distance)
    : analysis_(analysis), counter_(std::move(counter)), distance_(distance) {}

std::optional<Block> CommonCode::of(const Block& first, const Block& second) {
  if (first.size() != second.size()) return std::nullopt;
  Block result;
  for (std::size_t at = 0; at < first.size(); ++at) {
    StmtPtr common = of(first[at], second[at]);
    if (!common) return std::nullopt;
    result.push_back(std::move(common));
  }
  return result;
}

StmtPtr CommonCode::of(const StmtPtr& first, const StmtPtr& second) {
  if (first->kind() != second->kind()) return nullptr;
  if (const auto* declaration = as<Declaration>(first)) {
    const auto& other = to<Declaration>(second);
    const Variable& variable = declaration->variable;
    const bool is_alike =
        variable.type == other.variable.type && variable.scalar == other.variable.scalar &&
        variable.extents == other.variable.extents && variable.storage == Storage::automatic &&
        other.variable.storage == variable.storage &&
        variable.is_pointer == other.variable.is_pointer &&
        variable.alignment == other.variable.alignment;
    if (!is_alike || !declaration->value != !other.value) return nullptr;
    const ExprPtr value = declaration->value ? of(declaration->value, other.value) : nullptr;
    if (declaration->value && !value) return nullptr;
    names_[other.variable.name] = variable.name;
    names_[variable.name] = variable.name;
    return declare(variable, value);
  }
  if (const auto* assignment = as<Assignment>(first)) {
    const auto& other = to<Assignment>(second);
    const ExprPtr target = of(assignment->target, other.target);
    const ExprPtr value = target ? of(assignment->value, other.value) : nullptr;
    if (!value || assignment->op != other.op) return nullptr;
    auto result = std::make_shared<Assignment>(target, assignment->op, value);
    result->line = first->line;
    return result;
  }
  if (const auto* evaluation = as<source::Evaluation>(first)) {
    const ExprPtr call = of(evaluation->value, to<source::Evaluation>(second).value);
    if (!call) return nullptr;
    auto result = std::make_shared<source::Evaluation>(call);
    result->line = first->line;
    return result;
  }
  if (const auto* branch = as<Branch>(first)) {
    const auto& other = to<Branch>(second);
    const ExprPtr condition = of(branch->condition, other.condition);
    auto body = condition ? of(branch->body, other.body) : std::nullopt;
    auto otherwise = body ? of(branch->otherwise, other.otherwise) : std::nullopt;
    if (!otherwise) return nullptr;
    return source::branch(condition, std::move(*body), std::move(*otherwise), branch->line);
  }
  if (const auto* scope = as<Scope>(first)) {
    auto body = of(scope->body, to<Scope>(second).body);
    return body ? source::scope(std::move(*body)) : nullptr;
  }
  return nullptr;
}

ExprPtr CommonCode::of(const ExprPtr& first, const ExprPtr& second) {
  if (first->type != second->type) return nullptr;
  if (first->type && is_integer(*first->type) && !is_narrow(first) && !is_narrow(second)) {
    const auto one = place(first);
    const auto other = place(second);
    const auto between = one && other ? (*other - *one).constant() : std::nullopt;
    if (between) return moved(first, *between);
  }
  if (first->kind() != second->kind()) return nullptr;
  if (const auto* variable = as<VariableReference>(first)) {
    const std::string& name = to<VariableReference>(second).name;
    return own_name(variable->name) == own_name(name) ? first : nullptr;
  }
  return with_common_operands(first, second);
}

// What copies declare has no value that both know: it stands for itself, by the first's name.
std::optional<Polynomial> CommonCode::place(const ExprPtr& expr) const {
  const SymbolMeaning known = analysis_.meaning();
  return to_polynomial(expr, [&](const std::string& name) -> std::optional<Polynomial> {
    if (names_.contains(name)) return Polynomial::symbol(own_name(name));
    auto value = known(name);
    return value ? value : Polynomial::symbol(name);
  });
}

std::string CommonCode::own_name(const std::string& name) const {
  const auto own = names_.find(name);
  return own != names_.end() ? own->second : name;
}

// The expression that is so much more in the second copy.
ExprPtr CommonCode::moved(const ExprPtr& first, std::int64_t between) const {
  if (between == 0) return first;
  if (between % distance_ != 0) return nullptr;
  const ExprPtr steps = multiply(source::variable(counter_), integer(between / distance_));
  return with_type(add(first, steps), first->type);
}

// The first expression with what its operands have in common with the second's; null where the
// two are different otherwise.
ExprPtr CommonCode::with_common_operands(const ExprPtr& first, const ExprPtr& second) {
  std::vector<ExprPtr> others;
  std::vector<ExprPtr> own;
  for_each_operand(*first, [&](const ExprPtr& operand) { own.push_back(operand); });
  for_each_operand(*second, [&](const ExprPtr& operand) { others.push_back(operand); });
  if (own.size() != others.size() || is<OpaqueExpression>(first)) return nullptr;
  std::map<const Expr*, ExprPtr> common;
  for (std::size_t at = 0; at < own.size(); ++at) {
    const ExprPtr operand = of(own[at], others[at]);
    if (!operand) return nullptr;
    common[own[at].get()] = operand;
  }
  // Apart from their operands they are the same where they are so with the first's.
  const auto with = [](const ExprPtr& node, const std::vector<ExprPtr>& from,
                       const std::vector<ExprPtr>& to_use) {
    std::size_t next = 0;
    return rewrite_expr(node, [&](const ExprPtr& part) -> std::optional<ExprPtr> {
      if (part == node) return std::nullopt;
      return next < from.size() ? std::optional(to_use[next++]) : std::nullopt;
    });
  };
  std::vector<ExprPtr> replaced;
  replaced.reserve(own.size());
  for (const ExprPtr& operand : own)
    replaced.push_back(common[operand.get()]);
  if (!equal(first, with(second, others, own))) return nullptr;
  return with(first, own, replaced);
}

}  // namespace regraph::rewrite
