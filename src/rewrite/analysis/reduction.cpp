#include "rewrite/analysis/reduction.h"

#include "rewrite/forms/kernel_state.h"
#include "source/build.h"

#include <algorithm>
#include <utility>

namespace regraph::rewrite {

bool is_associative(std::optional<AssignmentOperator> op) {
  return op == AssignmentOperator::add || op == AssignmentOperator::multiply ||
         op == AssignmentOperator::bit_and || op == AssignmentOperator::bit_or ||
         op == AssignmentOperator::bit_xor;
}

std::optional<BinaryOperator> extremum_of(std::string_view function) {
  if (function == "max" || function == "fmaxf" || function == "fmax")
    return BinaryOperator::greater;
  if (function == "min" || function == "fminf" || function == "fmin") return BinaryOperator::less;
  return std::nullopt;
}

ExprPtr CarriedScalar::value() const {
  return source::variable(variable, scalar);
}

StmtPtr CarriedScalar::declared(ExprPtr value) const {
  return declare(local_variable(variable, type, scalar), std::move(value));
}

bool Reduction::keeps_largest() const {
  if (kind == Kind::comparison) return relation == BinaryOperator::greater;
  return kind == Kind::function && extremum_of(function) == BinaryOperator::greater;
}

StmtPtr Reduction::combine(const ExprPtr& target, const ExprPtr& other) const {
  switch (kind) {
    case Kind::compound:
      return assign(target, op, other);
    case Kind::function:
      return assign(target, call(function, {target, other}));
    case Kind::comparison:
      return assign(target, conditional(binary(relation, other, target), other, target));
  }
  return nullptr;
}

ExprPtr Reduction::neutral() const {
  if (kind != Kind::compound) return nullptr;
  if (op == AssignmentOperator::multiply) return one_of(scalar);
  if (op == AssignmentOperator::bit_and) return integer(-1);
  return zero_of(scalar);
}

bool Reduction::rounds() const {
  return kind == Kind::compound && is_floating(scalar);
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
