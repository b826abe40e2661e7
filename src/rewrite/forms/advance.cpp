#include "rewrite/forms/advance.h"

#include "source/match.h"

#include <utility>

namespace regraph::rewrite {

std::optional<Advance> advance_of(const Stmt& stmt) {
  const auto* assignment = as<Assignment>(stmt);
  const auto* target = assignment != nullptr ? as<VariableReference>(assignment->target) : nullptr;
  if (target == nullptr) return std::nullopt;
  // A fused multiply-add rounds once: it is not the same as adding the product.
  const bool is_fused = as_multiply_add(assignment->value) != nullptr;
  if (is_fused && assignment->op == AssignmentOperator::assign) return std::nullopt;
  auto added = added_term(*assignment);
  if (!added) return std::nullopt;
  return Advance{target->name, std::move(added->term), added->is_subtracted};
}

}  // namespace regraph::rewrite
