#include "rewrite/analysis/reduction_update.h"

#include "rewrite/analysis/mentions.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace regraph::rewrite {

using source::Analysis;
using source::as;
using source::Assignment;
using source::AssignmentOperator;
using source::Binary;
using source::BinaryOperator;
using source::Branch;
using source::Call;
using source::Conditional;
using source::ExprPtr;
using source::is_named;
using source::VariableReference;

namespace {

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
  if (is_mentioned(other, name)) return std::nullopt;
  if (source::equal(then, other) && is_named(otherwise, name)) return relation;
  if (source::equal(otherwise, other) && is_named(then, name)) return mirrored(relation);
  return std::nullopt;
}

// Whether one of the two is the variable, which the other does not mention.
bool combines(const ExprPtr& left, const ExprPtr& right, const std::string& name) {
  return (is_named(left, name) && !is_mentioned(right, name)) ||
         (is_named(right, name) && !is_mentioned(left, name));
}

bool is_one_of(AssignmentOperator op, std::initializer_list<AssignmentOperator> known) {
  return std::find(known.begin(), known.end(), op) != known.end();
}

Reduction plain_reduction(const source::Variable& variable, Reduction::Kind kind) {
  Reduction result;
  result.kind = kind;
  result.variable = variable.name;
  result.type = variable.type;
  result.scalar = *variable.scalar;
  return result;
}

Reduction compound_reduction(const source::Variable& variable, AssignmentOperator op) {
  Reduction result = plain_reduction(variable, Reduction::Kind::compound);
  result.op = op;
  return result;
}

Reduction comparison_reduction(const source::Variable& variable, BinaryOperator relation) {
  Reduction result = plain_reduction(variable, Reduction::Kind::comparison);
  result.relation = relation;
  return result;
}

// name = fmaf(a, b, name) and name = max(name, a).
std::optional<Reduction> update_by_call(const ExprPtr& value, const Call& call,
                                        const source::Variable& variable) {
  static const std::set<std::string> kFunctions = {"max", "min", "fmaxf", "fminf", "fmax", "fmin"};
  const std::string& name = variable.name;
  ExprPtr a;
  ExprPtr b;
  const auto is_fused = [&](const char* function) {
    return source::matches(
        value, source::called(function, source::any(a), source::any(b), source::named(name)));
  };
  if ((is_fused("fmaf") || is_fused("fma")) && !is_mentioned(a, name) && !is_mentioned(b, name))
    return compound_reduction(variable, AssignmentOperator::add);
  if (call.arguments.size() != 2 || !kFunctions.contains(call.function) ||
      !combines(call.arguments[0], call.arguments[1], name)) {
    return std::nullopt;
  }
  Reduction result = plain_reduction(variable, Reduction::Kind::function);
  result.function = call.function;
  return result;
}

}  // namespace

std::optional<Reduction> reduction_of(const Assignment& stmt, const source::Variable& variable) {
  using Op = AssignmentOperator;
  const std::string& name = variable.name;
  const ExprPtr& value = stmt.value;
  if (is_one_of(stmt.op,
                {Op::add, Op::subtract, Op::multiply, Op::bit_and, Op::bit_or, Op::bit_xor})) {
    if (is_mentioned(value, name)) return std::nullopt;
    return compound_reduction(variable, stmt.op == Op::subtract ? Op::add : stmt.op);
  }
  if (stmt.op != Op::assign) return std::nullopt;
  if (!is_named(value, name) && is_sum_onto(value, name))
    return compound_reduction(variable, Op::add);
  if (const auto* operation = as<Binary>(value)) {
    const auto op = source::compound(operation->op);
    if (op && is_one_of(*op, {Op::multiply, Op::bit_and, Op::bit_or, Op::bit_xor}) &&
        combines(operation->left, operation->right, name)) {
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

std::optional<Reduction> guarded_reduction_of(const Branch& stmt,
                                              const std::set<std::string>& inside,
                                              const Analysis& analysis) {
  if (!stmt.otherwise.empty() || stmt.body.size() != 1) return std::nullopt;
  const auto* inner = as<Assignment>(stmt.body[0]);
  if (inner == nullptr || inner->op != AssignmentOperator::assign) return std::nullopt;
  const auto* target = as<VariableReference>(inner->target);
  const source::Variable* variable = target != nullptr ? analysis.local(target->name) : nullptr;
  if (variable == nullptr || !variable->scalar || variable->is_pointer ||
      inside.contains(variable->name)) {
    return std::nullopt;
  }
  const auto relation = comparison_of(stmt.condition, inner->value, inner->target, variable->name);
  return relation ? std::optional(comparison_reduction(*variable, *relation)) : std::nullopt;
}

}  // namespace regraph::rewrite
