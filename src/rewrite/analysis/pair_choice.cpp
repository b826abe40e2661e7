#include "rewrite/analysis/pair_choice.h"

#include "rewrite/forms/uses.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

namespace regraph::rewrite {

namespace {

enum Role : std::size_t { kValue, kPlace, kOtherValue, kOtherPlace, kRoles };

struct Roles {
  std::array<ExprPtr, kRoles> places;
  std::array<std::optional<ScalarType>, kRoles> types;
  const ExprPtr& operator[](std::size_t role) const { return places[role]; }
};

// Of a variable or an element of a local array; elements do not always say it themselves.
std::optional<ScalarType> type_of(const ExprPtr& expr, const Analysis& analysis) {
  if (expr->type) return expr->type;
  const auto* element = as<Subscript>(expr);
  const auto* base = as<VariableReference>(element != nullptr ? element->base : expr);
  const Variable* variable = base != nullptr ? analysis.local(base->name) : nullptr;
  const bool is_scalar = variable != nullptr && !variable->is_pointer &&
                         variable->extents.size() == (element != nullptr ? 1U : 0U);
  return is_scalar ? variable->scalar : std::nullopt;
}

bool is_value(Role role) {
  return role == kValue || role == kOtherValue;
}
bool is_other(Role role) {
  return role == kOtherValue || role == kOtherPlace;
}

// How the pair so far compares with the other: -1, 0 or 1.
struct Order {
  int values = 0;
  int places = 0;
};

bool holds(BinaryOperator op, int order) {
  switch (op) {
    case BinaryOperator::less:
      return order < 0;
    case BinaryOperator::less_equal:
      return order <= 0;
    case BinaryOperator::greater:
      return order > 0;
    case BinaryOperator::greater_equal:
      return order >= 0;
    case BinaryOperator::equal:
      return order == 0;
    default:
      return order != 0;
  }
}

// Goes through the statements with the pairs in one order.
class Follower {
 public:
  Follower(const Roles& roles, const Order& order) : roles_(roles), order_(order) {}

  // Whether all statements were understood.
  bool follow(const Block& block, std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      if (!follow(block[i])) return false;
    }
    return true;
  }
  [[nodiscard]] Role value() const { return held_[kValue]; }
  [[nodiscard]] Role place() const { return held_[kPlace]; }

 private:
  bool follow(const StmtPtr& stmt) {
    if (const auto* scope = as<Scope>(stmt)) return follow(scope->body, 0, scope->body.size());
    if (const auto* branch = as<Branch>(stmt)) {
      const auto taken = condition(branch->condition);
      if (!taken) return false;
      const Block& body = *taken ? branch->body : branch->otherwise;
      return follow(body, 0, body.size());
    }
    if (const auto* declared = as<Declaration>(stmt)) {
      const std::string& name = declared->variable.name;
      return !declared->value || keep(name, declared->variable.scalar, declared->value);
    }
    const auto* assigned = as<Assignment>(stmt);
    if (assigned == nullptr || assigned->op != AssignmentOperator::assign) return false;
    for (const Role own : {kValue, kPlace}) {
      if (!source::equal(assigned->target, roles_[own])) continue;
      const auto role = role_of(assigned->value);
      if (!role || is_value(*role) != is_value(own)) return false;
      held_[own] = *role;
      return true;
    }
    const auto* target = as<VariableReference>(assigned->target);
    return target != nullptr && keep(target->name, target->type, assigned->value);
  }

  // In a temporary.
  bool keep(const std::string& name, const std::optional<ScalarType>& type, const ExprPtr& value) {
    if (const auto role = role_of(value)) {
      // A conversion could make different values equal.
      if (type != roles_.types[*role]) return false;
      temporaries_[name] = *role;
      return true;
    }
    const auto truth = condition(value);
    if (!truth || type != ScalarType::boolean) return false;
    truths_[name] = *truth;
    return true;
  }

  std::optional<Role> role_of(const ExprPtr& expr) const {
    if (const auto* choice = as<Conditional>(expr)) {
      const auto taken = condition(choice->condition);
      if (!taken) return std::nullopt;
      return role_of(*taken ? choice->then : choice->otherwise);
    }
    if (const auto* name = as<VariableReference>(expr)) {
      const auto known = temporaries_.find(name->name);
      if (known != temporaries_.end()) return known->second;
    }
    for (const Role role : {kValue, kPlace, kOtherValue, kOtherPlace}) {
      if (!source::equal(expr, roles_[role])) continue;
      return is_other(role) ? role : held_[role];
    }
    return std::nullopt;
  }

  std::optional<bool> condition(const ExprPtr& expr) const {
    if (const auto* name = as<VariableReference>(expr)) {
      const auto known = truths_.find(name->name);
      return known != truths_.end() ? std::optional(known->second) : std::nullopt;
    }
    if (const auto* inverse = as_unary(expr, UnaryOperator::logical_not)) {
      const auto truth = condition(inverse->operand);
      return truth ? std::optional(!*truth) : std::nullopt;
    }
    if (const auto* choice = as<Conditional>(expr)) {
      const auto taken = condition(choice->condition);
      if (!taken) return std::nullopt;
      return condition(*taken ? choice->then : choice->otherwise);
    }
    const auto* binary = as<Binary>(expr);
    if (binary == nullptr) return std::nullopt;
    const bool is_and = binary->op == BinaryOperator::logical_and;
    if (is_and || binary->op == BinaryOperator::logical_or) {
      const auto left = condition(binary->left);
      if (!left || *left != is_and) return left;
      return condition(binary->right);
    }
    if (!is_comparison(binary->op)) return std::nullopt;
    const auto left = role_of(binary->left);
    const auto right = role_of(binary->right);
    if (!left || !right || is_value(*left) != is_value(*right)) return std::nullopt;
    const int order = is_value(*left) ? order_.values : order_.places;
    if (is_other(*left) == is_other(*right)) return holds(binary->op, 0);
    return holds(binary->op, is_other(*left) ? -order : order);
  }

  const Roles& roles_;
  const Order order_;
  std::array<Role, 2> held_ = {kValue, kPlace};
  std::map<std::string, Role> temporaries_;
  std::map<std::string, bool> truths_;
};

// Expressions that are compared or assigned, apart from choices between them.
class Operands {
 public:
  explicit Operands(std::set<std::string> temporaries) : temporaries_(std::move(temporaries)) {}

  void visit(const Block& block, std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i)
      visit(block[i]);
  }
  std::vector<ExprPtr> targets;  // assigned, and not declared there
  std::vector<ExprPtr> others;   // neither a target nor declared there; filled in by `finish`

  void finish() {
    for (const ExprPtr& operand : operands_) {
      if (!contains(targets, operand) && !contains(others, operand)) others.push_back(operand);
    }
  }

 private:
  static bool contains(const std::vector<ExprPtr>& all, const ExprPtr& expr) {
    return std::any_of(all.begin(), all.end(),
                       [&](const ExprPtr& known) { return source::equal(known, expr); });
  }
  bool is_temporary(const ExprPtr& expr) const {
    const auto* name = as<VariableReference>(expr);
    return name != nullptr && temporaries_.contains(name->name);
  }

  void visit(const StmtPtr& stmt) {
    if (const auto* branch = as<Branch>(stmt)) operand(branch->condition);
    if (const auto* declared = as<Declaration>(stmt)) operand(declared->value);
    if (const auto* assigned = as<Assignment>(stmt)) {
      operand(assigned->value);
      if (!is_temporary(assigned->target) && !contains(targets, assigned->target))
        targets.push_back(assigned->target);
    }
    for (const Block* inner : {&body_of(*stmt), &otherwise_of(*stmt)})
      visit(*inner, 0, inner->size());
  }

  void operand(const ExprPtr& expr) {
    if (!expr || is_temporary(expr)) return;
    const auto* binary = as<Binary>(expr);
    const bool asks = binary != nullptr &&
                      (is_comparison(binary->op) || binary->op == BinaryOperator::logical_and ||
                       binary->op == BinaryOperator::logical_or);
    const bool chooses =
        is<Conditional>(expr) || as_unary(expr, UnaryOperator::logical_not) != nullptr;
    if (!asks && !chooses) {
      operands_.push_back(expr);
      return;
    }
    for_each_operand(*expr, [this](const ExprPtr& inner) { operand(inner); });
  }

  std::set<std::string> temporaries_;
  std::vector<ExprPtr> operands_;
};

// Whether an operand means the same wherever the statements ask for it.
bool is_steady(const ExprPtr& operand, const std::vector<ExprPtr>& targets,
               const std::set<std::string>& temporaries) {
  return !any_expression(operand, [&](const Expr& node) {
    const auto* name = as<VariableReference>(node);
    return is<Call>(node) ||
           (name != nullptr && (temporaries.contains(name->name) ||
                                std::ranges::any_of(targets, [&](const ExprPtr& target) {
                                  return is_named(target, name->name);
                                })));
  });
}

bool chooses_by(const Block& block, std::size_t first, std::size_t last, const Roles& roles,
                PairChoice& choice) {
  const bool larger = choice.relation == BinaryOperator::greater;
  const bool smaller_place = choice.tie == BinaryOperator::less;
  for (int values = -1; values <= 1; ++values) {
    for (int places = -1; places <= 1; ++places) {
      Follower follower(roles, {values, places});
      if (!follower.follow(block, first, last)) return false;
      const int decides =
          values != 0 ? (larger ? values : -values) : (smaller_place ? -places : places);
      // Of what is equal, either may stay.
      if (values != 0 && is_other(follower.value()) != (decides < 0)) return false;
      if (places != 0 && is_other(follower.place()) != (decides < 0)) return false;
    }
  }
  return true;
}

}  // namespace

std::optional<PairChoice> match_pair_choice(const Block& block, std::size_t first, std::size_t last,
                                            const Analysis& analysis) {
  PairChoice choice;
  const Block part(block.begin() + static_cast<std::ptrdiff_t>(first),
                   block.begin() + static_cast<std::ptrdiff_t>(last));
  choice.temporaries = declared_names(part);
  Operands operands(choice.temporaries);
  operands.visit(part, 0, part.size());
  operands.finish();
  if (operands.targets.size() != 2 || operands.others.size() != 2) return std::nullopt;
  for (const ExprPtr& operand : operands.others) {
    if (!is_steady(operand, operands.targets, choice.temporaries)) return std::nullopt;
  }
  for (const std::size_t value : {0U, 1U}) {
    for (const std::size_t other : {0U, 1U}) {
      Roles roles = {{operands.targets[value], operands.targets[1 - value], operands.others[other],
                      operands.others[1 - other]},
                     {}};
      for (std::size_t i = 0; i < kRoles; ++i)
        roles.types[i] = type_of(roles[i], analysis);
      const bool same_types = roles.types[kValue] && roles.types[kPlace] &&
                              roles.types[kValue] == roles.types[kOtherValue] &&
                              roles.types[kPlace] == roles.types[kOtherPlace];
      if (!same_types) continue;
      for (const auto relation : {BinaryOperator::greater, BinaryOperator::less}) {
        for (const auto tie : {BinaryOperator::less, BinaryOperator::greater}) {
          choice.relation = relation;
          choice.tie = tie;
          if (!chooses_by(part, 0, part.size(), roles, choice)) continue;
          choice.value = roles[kValue];
          choice.place = roles[kPlace];
          choice.other_value = roles[kOtherValue];
          choice.other_place = roles[kOtherPlace];
          return choice;
        }
      }
    }
  }
  return std::nullopt;
}

}  // namespace regraph::rewrite
