#include "rewrite/analysis/reduction_loop.h"

#include "rewrite/analysis/reduction.h"
#include "rewrite/analysis/refusal_place.h"
#include "rewrite/forms/ir.h"
#include "rewrite/forms/kernel_state.h"
#include "rewrite/forms/uses.h"
#include "source/analysis.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace regraph::rewrite {

namespace {

// Statements that update what a loop accumulates.

// name + ... - ...: `name` once, with a positive sign.
bool is_sum_onto(const ExprPtr& expr, const std::string& name) {
  if (is_named(expr, name)) return true;
  const auto* binary = as<Binary>(expr);
  if (binary == nullptr ||
      (binary->op != BinaryOperator::add && binary->op != BinaryOperator::subtract)) {
    return false;
  }
  if (is_sum_onto(binary->left, name)) return !is_mentioned(binary->right, name);
  return binary->op == BinaryOperator::add && is_sum_onto(binary->right, name) &&
         !is_mentioned(binary->left, name);
}

// other > name ? other : name and its mirror images; the relation under which `other` wins.
std::optional<BinaryOperator> comparison_of(const ExprPtr& condition, const ExprPtr& then,
                                            const ExprPtr& otherwise, const std::string& name) {
  const auto* comparison = as<Binary>(condition);
  if (comparison == nullptr) return std::nullopt;
  BinaryOperator relation = comparison->op;
  if (relation == BinaryOperator::less_equal) relation = BinaryOperator::less;
  if (relation == BinaryOperator::greater_equal) relation = BinaryOperator::greater;
  if (relation != BinaryOperator::less && relation != BinaryOperator::greater) return std::nullopt;
  ExprPtr other = comparison->left;
  if (is_named(other, name)) {
    other = comparison->right;
    relation = mirrored(relation);
  } else if (!is_named(comparison->right, name)) {
    return std::nullopt;
  }
  if (is_mentioned(other, name)) return std::nullopt;
  if (equal(then, other) && is_named(otherwise, name)) return relation;
  if (equal(otherwise, other) && is_named(then, name)) return mirrored(relation);
  return std::nullopt;
}

// Whether one of the two is the variable, which the other does not mention.
bool combines(const ExprPtr& left, const ExprPtr& right, const std::string& name) {
  return (is_named(left, name) && !is_mentioned(right, name)) ||
         (is_named(right, name) && !is_mentioned(left, name));
}

Reduction plain_reduction(const Variable& variable, Reduction::Kind kind) {
  return Reduction({variable.name, variable.type, *variable.scalar}, kind);
}

Reduction compound_reduction(const Variable& variable, AssignmentOperator op) {
  Reduction result = plain_reduction(variable, Reduction::Kind::compound);
  result.op = op;
  return result;
}

Reduction comparison_reduction(const Variable& variable, BinaryOperator relation) {
  Reduction result = plain_reduction(variable, Reduction::Kind::comparison);
  result.relation = relation;
  return result;
}

// name = fmaf(a, b, name) and name = max(name, a).
std::optional<Reduction> update_by_call(const ExprPtr& value, const Call& call,
                                        const Variable& variable) {
  const std::string& name = variable.name;
  const Call* fused = as_multiply_add(value);
  if (fused != nullptr && is_named(fused->arguments[2], name) &&
      !is_mentioned(fused->arguments[0], name) && !is_mentioned(fused->arguments[1], name))
    return compound_reduction(variable, AssignmentOperator::add);
  if (call.arguments.size() != 2 || !extremum_of(call.function) ||
      !combines(call.arguments[0], call.arguments[1], name)) {
    return std::nullopt;
  }
  Reduction result = plain_reduction(variable, Reduction::Kind::function);
  result.function = call.function;
  return result;
}

// The reduction that an assignment to the scalar variable does: sum += x, sum = sum + x,
// m = fmaxf(m, x), m = x > m ? x : m and the like; nothing where it does anything else, or its
// value mentions the variable once more.
std::optional<Reduction> reduction_of(const Assignment& stmt, const Variable& variable) {
  using Op = AssignmentOperator;
  const std::string& name = variable.name;
  const ExprPtr& value = stmt.value;
  if (is_associative(stmt.op) || stmt.op == Op::subtract) {
    if (is_mentioned(value, name)) return std::nullopt;
    return compound_reduction(variable, stmt.op == Op::subtract ? Op::add : stmt.op);
  }
  if (stmt.op != Op::assign) return std::nullopt;
  if (!is_named(value, name) && is_sum_onto(value, name))
    return compound_reduction(variable, Op::add);
  if (const auto* operation = as<Binary>(value)) {
    const auto op = source::compound(operation->op);
    if (is_associative(op) && op != Op::add && combines(operation->left, operation->right, name)) {
      return compound_reduction(variable, *op);
    }
  }
  if (const auto* call = as<Call>(value)) return update_by_call(value, *call, variable);
  if (const auto* choice = as<Conditional>(value)) {
    const auto relation = comparison_of(choice->condition, choice->then, choice->otherwise, name);
    if (relation) return comparison_reduction(variable, *relation);
  }
  return std::nullopt;
}

// The same of if (other > name) name = other; of a variable that is not declared `inside`.
std::optional<Reduction> guarded_reduction_of(const Branch& stmt,
                                              const std::set<std::string>& inside,
                                              const Analysis& analysis) {
  if (!stmt.otherwise.empty() || stmt.body.size() != 1) return std::nullopt;
  const auto* inner = as<Assignment>(stmt.body[0]);
  if (inner == nullptr || inner->op != AssignmentOperator::assign) return std::nullopt;
  const auto* target = as<VariableReference>(inner->target);
  const Variable* variable = target != nullptr ? analysis.local(target->name) : nullptr;
  if (variable == nullptr || !variable->scalar || variable->is_pointer ||
      inside.contains(variable->name)) {
    return std::nullopt;
  }
  const auto relation = comparison_of(stmt.condition, inner->value, inner->target, variable->name);
  return relation ? std::optional(comparison_reduction(*variable, *relation)) : std::nullopt;
}

class EffectCollector {
 public:
  EffectCollector(const ForLoop& loop, const Analysis& analysis)
      : loop_(loop), analysis_(analysis), inside_(declared_names(loop.body)) {}

  Result<LoopEffects> collect() {
    if (Status status = block(loop_.body); !status) return status.error();
    for (const std::string& name : carried_) {
      if (is_read_elsewhere(name)) effects_.running.insert(name);
    }
    return effects_;
  }

 private:
  std::string where() const { return loop_named(loop_); }

  Status block(const Block& statements) {
    for (std::size_t i = 0; i < statements.size(); ++i) {
      if (const auto found = match_selection(statements, i, inside_, analysis_)) {
        if (Status status = add(*found); !status) return status;
        i += found->statements.size() - 1;
        continue;
      }
      if (Status status = statement(*statements[i]); !status) return status;
    }
    return {};
  }

  Status statement(const Stmt& stmt) {
    switch (stmt.kind()) {
      case StmtKind::declaration:
        if (to<Declaration>(stmt).variable.storage != Storage::automatic) {
          return refuse(where() + "it declares shared memory");
        }
        return {};
      case StmtKind::assignment:
        return assignment(to<Assignment>(stmt));
      case StmtKind::branch: {
        const auto& branch = to<Branch>(stmt);
        if (const auto reduction = guarded_reduction_of(branch, inside_, analysis_))
          return add(*reduction, &stmt);
        if (Status status = block(branch.body); !status) return status;
        return block(branch.otherwise);
      }
      case StmtKind::for_loop: {
        const auto& loop = to<ForLoop>(stmt);
        if (const auto* init = as<Assignment>(loop.init)) {
          if (Status status = assignment(*init); !status) return status;
        }
        return block(loop.body);
      }
      case StmtKind::scope:
        return block(to<Scope>(stmt).body);
      default:
        return refuse(where() +
                      "it holds a barrier, a jump, a while loop or a call for its effect");
    }
  }

  Status assignment(const Assignment& stmt) {
    const auto* base = base_variable(*stmt.target);
    if (base == nullptr) {
      std::set<std::string> names = variables_of(stmt.target);
      const bool is_private = std::all_of(names.begin(), names.end(), [&](const std::string& name) {
        return inside_.contains(name) && !is_pointer(name);
      });
      if (is_private) return {};
      return refuse(where() + "it assigns to something that is no variable or array element");
    }
    if (is_pointer(base->name) && !is<VariableReference>(stmt.target))
      return refuse(where() + "it writes through the pointer '" + base->name + "'");
    if (inside_.contains(base->name)) return {};
    if (analysis_.is_global_pointer(base->name)) {
      effects_.stored.insert(base->name);
      return {};
    }
    const Variable* variable = analysis_.local(base->name);
    if (!is<VariableReference>(stmt.target) || variable == nullptr || !variable->scalar ||
        variable->is_pointer) {
      return refuse(where() + "it changes '" + base->name + "', which later iterations may read");
    }
    const auto reduction = reduction_of(stmt, *variable);
    if (!reduction) {
      return refuse(where() + "'" + base->name +
                    "' carries a value from one iteration to the next");
    }
    return add(*reduction, &stmt);
  }

  // A local one, of which it is not said where it leads.
  bool is_pointer(const std::string& name) const {
    const Variable* variable = analysis_.local(name);
    return variable != nullptr && variable->is_pointer;
  }

  Status add(const Reduction& reduction, const Stmt* stmt) {
    const bool shuffles =
        reduction.scalar == ScalarType::f32 || reduction.scalar == ScalarType::f64 ||
        reduction.scalar == ScalarType::i32 || reduction.scalar == ScalarType::u32 ||
        reduction.scalar == ScalarType::i64 || reduction.scalar == ScalarType::u64;
    if (!shuffles) {
      return refuse(where() + "'" + reduction.variable + "' has type " + reduction.type +
                    ", for which partial results are not supported");
    }
    effects_.updates[stmt].insert(reduction.variable);
    for (const Reduction& known : effects_.reductions) {
      if (known.variable != reduction.variable) continue;
      if (known.same_operation(reduction)) return {};
      return refuse(different(reduction.variable));
    }
    if (!carried_.insert(reduction.variable).second) return refuse(different(reduction.variable));
    effects_.reductions.push_back(reduction);
    return {};
  }

  Status add(const SelectionMatch& match) {
    const Selection& selection = match.selection;
    std::set<std::string> names;
    for (const CarriedScalar& carried : selection.carried())
      names.insert(carried.variable);
    names.insert(match.temporaries.begin(), match.temporaries.end());
    for (const Stmt* stmt : match.statements)
      effects_.updates[stmt] = names;
    for (Selection& known : effects_.selections) {
      if (!known.same_operation(selection)) continue;
      known.updates.push_back(selection.updates.front());
      carried_.insert(names.begin(), names.end());
      return {};
    }
    for (const std::string& name : names) {
      if (!carried_.insert(name).second) return refuse(different(name));
    }
    effects_.selections.push_back(selection);
    return {};
  }

  std::string different(const std::string& name) const {
    return where() + "'" + name + "' is updated by different operations";
  }

  // Also by the update of another, `sum += power * x; power *= y;`, or to ask for the loop's end.
  bool is_read_elsewhere(const std::string& name) const {
    bool found = is_mentioned(loop_.condition, name);
    std::function<void(const Block&)> visit = [&](const Block& statements) {
      for (const StmtPtr& stmt : statements) {
        const auto update = effects_.updates.find(stmt.get());
        if (update != effects_.updates.end() && update->second.contains(name)) continue;
        for_each_header(*stmt, [&](const StmtPtr& part) {
          found =
              found || is_mentioned(value_of(*part), name) || is_mentioned(target_of(*part), name);
        });
        found =
            found || is_mentioned(value_of(*stmt), name) || is_mentioned(target_of(*stmt), name);
        visit(body_of(*stmt));
        visit(otherwise_of(*stmt));
      }
    };
    visit(loop_.body);
    return found;
  }

  const ForLoop& loop_;
  const Analysis& analysis_;
  std::set<std::string> inside_;
  std::set<std::string> carried_;  // what updates read
  LoopEffects effects_;
};

}  // namespace

Result<LoopEffects> running_effects_of(const ForLoop& loop, const Analysis& analysis) {
  return EffectCollector(loop, analysis).collect();
}

Result<LoopEffects> effects_of(const ForLoop& loop, const Analysis& analysis) {
  auto effects = running_effects_of(loop, analysis);
  if (!effects || effects->running.empty()) return effects;
  return refuse(loop_named(loop) + "'" + *effects->running.begin() +
                "' is read before the loop is over");
}

}  // namespace regraph::rewrite
