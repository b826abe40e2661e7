#include "rewrite/analysis/reduction_loop.h"

#include "rewrite/analysis/refusal_place.h"
#include "rewrite/forms/kernel_state.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <map>
#include <optional>

namespace regraph::rewrite {

using source::Analysis;
using source::as;
using source::Assignment;
using source::AssignmentOperator;
using source::Binary;
using source::BinaryOperator;
using source::Block;
using source::Branch;
using source::Call;
using source::Conditional;
using source::Declaration;
using source::ExprPtr;
using source::ForLoop;
using source::is;
using source::is_named;
using source::Scope;
using source::Stmt;
using source::StmtKind;
using source::StmtPtr;
using source::to;
using source::VariableReference;

StmtPtr Reduction::combine(const ExprPtr& target, const ExprPtr& other) const {
  switch (kind) {
    case Kind::compound:
      return source::assign(target, op, other);
    case Kind::function:
      return source::assign(target, source::call(function, {target, other}));
    case Kind::comparison:
      return source::assign(
          target, source::conditional(source::binary(relation, other, target), other, target));
  }
  return nullptr;
}

ExprPtr Reduction::neutral() const {
  if (kind != Kind::compound) return nullptr;
  const bool wide = scalar == ScalarType::f64;
  if (op == AssignmentOperator::multiply) {
    return is_floating(scalar) ? source::floating(wide ? "1.0" : "1.0f") : source::integer(1);
  }
  if (op == AssignmentOperator::bit_and) return source::integer(-1);
  return source::zero_of(scalar);
}

bool Reduction::rounds() const {
  return kind == Kind::compound && is_floating(scalar);
}

namespace {

bool mentions(const ExprPtr& expr, const std::string& name) {
  return source::variables_of(expr).contains(name);
}

// name + ... - ...: `name` once, with a positive sign.
bool is_sum_onto(const ExprPtr& expr, const std::string& name) {
  if (is_named(expr, name)) return true;
  const auto* binary = as<Binary>(expr);
  if (binary == nullptr ||
      (binary->op != BinaryOperator::add && binary->op != BinaryOperator::subtract)) {
    return false;
  }
  if (is_sum_onto(binary->left, name)) return !mentions(binary->right, name);
  return binary->op == BinaryOperator::add && is_sum_onto(binary->right, name) &&
         !mentions(binary->left, name);
}

BinaryOperator mirrored(BinaryOperator relation) {
  return relation == BinaryOperator::less ? BinaryOperator::greater : BinaryOperator::less;
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
  if (mentions(other, name)) return std::nullopt;
  if (source::equal(then, other) && is_named(otherwise, name)) return relation;
  if (source::equal(otherwise, other) && is_named(then, name)) return mirrored(relation);
  return std::nullopt;
}

// Whether one of the two is the variable, which the other does not mention.
bool combines(const ExprPtr& left, const ExprPtr& right, const std::string& name) {
  return (is_named(left, name) && !mentions(right, name)) ||
         (is_named(right, name) && !mentions(left, name));
}

bool is_one_of(AssignmentOperator op, std::initializer_list<AssignmentOperator> known) {
  return std::find(known.begin(), known.end(), op) != known.end();
}

class EffectCollector {
 public:
  EffectCollector(const ForLoop& loop, const Analysis& analysis)
      : loop_(loop), analysis_(analysis), inside_(source::declared_names(loop.body)) {}

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
        if (to<Declaration>(stmt).variable.storage != source::Storage::automatic) {
          return refuse(where() + "it declares shared memory");
        }
        return {};
      case StmtKind::assignment:
        return assignment(to<Assignment>(stmt));
      case StmtKind::branch: {
        const auto& branch = to<Branch>(stmt);
        if (const auto reduction = guarded_update(branch)) return add(*reduction, &stmt);
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
    const auto* base = source::base_variable(*stmt.target);
    if (base == nullptr) {
      std::set<std::string> names = source::variables_of(stmt.target);
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
    const source::Variable* variable = analysis_.local(base->name);
    if (!is<VariableReference>(stmt.target) || variable == nullptr || !variable->scalar ||
        variable->is_pointer) {
      return refuse(where() + "it changes '" + base->name + "', which later iterations may read");
    }
    const auto reduction = update(stmt, *variable);
    if (!reduction) {
      return refuse(where() + "'" + base->name +
                    "' carries a value from one iteration to the next");
    }
    return add(*reduction, &stmt);
  }

  // A local one, of which it is not said where it leads.
  bool is_pointer(const std::string& name) const {
    const source::Variable* variable = analysis_.local(name);
    return variable != nullptr && variable->is_pointer;
  }

  static Reduction reduction(const source::Variable& variable, Reduction::Kind kind) {
    Reduction result;
    result.kind = kind;
    result.variable = variable.name;
    result.type = variable.type;
    result.scalar = *variable.scalar;
    return result;
  }

  static Reduction compound(const source::Variable& variable, AssignmentOperator op) {
    Reduction result = reduction(variable, Reduction::Kind::compound);
    result.op = op;
    return result;
  }

  static Reduction comparison(const source::Variable& variable, BinaryOperator relation) {
    Reduction result = reduction(variable, Reduction::Kind::comparison);
    result.relation = relation;
    return result;
  }

  std::optional<Reduction> update(const Assignment& stmt, const source::Variable& variable) const {
    using Op = AssignmentOperator;
    const std::string& name = variable.name;
    const ExprPtr& value = stmt.value;
    if (is_one_of(stmt.op,
                  {Op::add, Op::subtract, Op::multiply, Op::bit_and, Op::bit_or, Op::bit_xor})) {
      if (mentions(value, name)) return std::nullopt;
      return compound(variable, stmt.op == Op::subtract ? Op::add : stmt.op);
    }
    if (stmt.op != Op::assign) return std::nullopt;
    if (!is_named(value, name) && is_sum_onto(value, name)) return compound(variable, Op::add);
    if (const auto* operation = as<Binary>(value)) {
      const auto op = source::compound(operation->op);
      if (op && is_one_of(*op, {Op::multiply, Op::bit_and, Op::bit_or, Op::bit_xor}) &&
          combines(operation->left, operation->right, name)) {
        return compound(variable, *op);
      }
    }
    if (const auto* call = as<Call>(value)) return update_by_call(value, *call, variable);
    if (const auto* choice = as<Conditional>(value)) {
      const auto relation = comparison_of(choice->condition, choice->then, choice->otherwise, name);
      if (relation) return comparison(variable, *relation);
    }
    return std::nullopt;
  }

  // name = fmaf(a, b, name) and name = max(name, a).
  static std::optional<Reduction> update_by_call(const ExprPtr& value, const Call& call,
                                                 const source::Variable& variable) {
    static const std::set<std::string> kFunctions = {"max",   "min",  "fmaxf",
                                                     "fminf", "fmax", "fmin"};
    const std::string& name = variable.name;
    ExprPtr a;
    ExprPtr b;
    const auto is_fused = [&](const char* function) {
      return source::matches(
          value, source::called(function, source::any(a), source::any(b), source::named(name)));
    };
    if ((is_fused("fmaf") || is_fused("fma")) && !mentions(a, name) && !mentions(b, name))
      return compound(variable, AssignmentOperator::add);
    if (call.arguments.size() != 2 || !kFunctions.contains(call.function) ||
        !combines(call.arguments[0], call.arguments[1], name)) {
      return std::nullopt;
    }
    Reduction result = reduction(variable, Reduction::Kind::function);
    result.function = call.function;
    return result;
  }

  // if (other > name) name = other;
  std::optional<Reduction> guarded_update(const Branch& stmt) const {
    if (!stmt.otherwise.empty() || stmt.body.size() != 1) return std::nullopt;
    const auto* inner = as<Assignment>(stmt.body[0]);
    if (inner == nullptr || inner->op != AssignmentOperator::assign) return std::nullopt;
    const auto* target = as<VariableReference>(inner->target);
    const source::Variable* variable = target != nullptr ? analysis_.local(target->name) : nullptr;
    if (variable == nullptr || !variable->scalar || variable->is_pointer ||
        inside_.contains(variable->name)) {
      return std::nullopt;
    }
    const auto relation =
        comparison_of(stmt.condition, inner->value, inner->target, variable->name);
    return relation ? std::optional(comparison(*variable, *relation)) : std::nullopt;
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
    for (const Selection::Carried& carried : selection.carried())
      names.insert(carried.variable);
    names.insert(match.temporaries.begin(), match.temporaries.end());
    for (const source::Stmt* stmt : match.statements)
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
    bool found = mentions(loop_.condition, name);
    std::function<void(const Block&)> visit = [&](const Block& statements) {
      for (const StmtPtr& stmt : statements) {
        const auto update = effects_.updates.find(stmt.get());
        if (update != effects_.updates.end() && update->second.contains(name)) continue;
        source::for_each_header(*stmt, [&](const StmtPtr& part) {
          found = found || mentions(value_of(*part), name) || mentions(target_of(*part), name);
        });
        found = found || mentions(value_of(*stmt), name) || mentions(target_of(*stmt), name);
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

Status permit_reordering(const std::vector<Reduction>& reductions, const Problem& problem) {
  for (const Reduction& reduction : reductions) {
    if (!reduction.rounds() || problem.assume.reassociate) continue;
    return refuse("'" + reduction.variable +
                  "' is a floating-point sum and the problem does not grant 'assume: "
                  "{reassociate: true}'");
  }
  return {};
}

bool any_rounds(const std::vector<Reduction>& reductions) {
  return std::any_of(reductions.begin(), reductions.end(),
                     [](const Reduction& reduction) { return reduction.rounds(); });
}

}  // namespace regraph::rewrite
