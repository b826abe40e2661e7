#include "rewrite/forms/advance.h"

#include "source/build.h"
#include "source/match.h"

namespace regraph::rewrite {

using source::AssignmentOperator;
using source::BinaryOperator;
using source::ExprPtr;

std::optional<Advance> advance_of(const source::Stmt& stmt) {
  const auto* assignment = source::as<source::Assignment>(stmt);
  const auto* target =
      assignment != nullptr ? source::as<source::VariableReference>(assignment->target) : nullptr;
  if (target == nullptr) return std::nullopt;
  const std::string& name = target->name;
  if (assignment->op == AssignmentOperator::add) return Advance{name, assignment->value};
  if (assignment->op == AssignmentOperator::subtract) return Advance{name, assignment->value, true};
  if (assignment->op != AssignmentOperator::assign) return std::nullopt;
  const auto itself = source::named(name);
  const auto& value = assignment->value;
  ExprPtr step;
  if (matches(value, source::operation(BinaryOperator::subtract, itself, source::any(step))))
    return Advance{name, step, true};
  const bool adds =
      matches(value, source::operation(BinaryOperator::add, itself, source::any(step))) ||
      matches(value, source::operation(BinaryOperator::add, source::any(step), itself));
  return adds ? std::optional(Advance{name, step}) : std::nullopt;
}

}  // namespace regraph::rewrite
