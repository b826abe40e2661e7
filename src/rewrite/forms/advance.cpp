#include "rewrite/forms/advance.h"

#include "source/build.h"
#include "source/match.h"

namespace regraph::rewrite {

std::optional<Advance> advance_of(const Stmt& stmt) {
  const auto* assignment = as<Assignment>(stmt);
  const auto* target = assignment != nullptr ? as<VariableReference>(assignment->target) : nullptr;
  if (target == nullptr) return std::nullopt;
  const std::string& name = target->name;
  if (assignment->op == AssignmentOperator::add) return Advance{name, assignment->value};
  if (assignment->op == AssignmentOperator::subtract) return Advance{name, assignment->value, true};
  if (assignment->op != AssignmentOperator::assign) return std::nullopt;
  const auto itself = named(name);
  const auto& value = assignment->value;
  ExprPtr step;
  if (matches(value, operation(BinaryOperator::subtract, itself, any(step))))
    return Advance{name, step, true};
  const bool adds = matches(value, operation(BinaryOperator::add, itself, any(step))) ||
                    matches(value, operation(BinaryOperator::add, any(step), itself));
  return adds ? std::optional(Advance{name, step}) : std::nullopt;
}

}  // namespace regraph::rewrite
