#include "rewrite/analysis/block_row.h"

#include "affine/block_geometry.h"
#include "rewrite/analysis/first_thread.h"
#include "source/walk.h"

namespace regraph::rewrite {

std::optional<Polynomial> BlockRow::polynomial(const ExprPtr& expr) const {
  const auto result = analysis_.polynomial(expr);
  return result ? std::optional(with_block_extents(*result, block_)) : std::nullopt;
}

bool BlockRow::is_own_slot(const Expr& place) const {
  const auto* element = as<Subscript>(place);
  const auto* base = element != nullptr ? as<VariableReference>(element->base) : nullptr;
  if (base == nullptr || !analysis_.is_shared(base->name)) return false;
  const auto index = polynomial(element->index);
  return index && *index == Polynomial::symbol(kPlaceInRow);
}

bool BlockRow::is_first_thread(const ExprPtr& condition) const {
  return rewrite::is_first_thread(condition,
                                  [this](const ExprPtr& side) { return polynomial(side); });
}

Status require_block_a_row(const KernelAnalysis& kernel, const KernelForm& form,
                           const Launch& launch) {
  if (const Status& status = kernel.transparent(); !status) return status;
  const Analysis& analysis = form.analysis;
  if (!analysis.unknown_calls().empty()) {
    return refuse("the kernel calls '" + *analysis.unknown_calls().begin() +
                  "', which may write memory");
  }
  if (analysis.uses_warp_intrinsics()) return refuse("the lanes of a warp work together already");
  if (launch.block.y != 1 || launch.block.z != 1) return refuse("the block has more than one axis");
  if (launch.block.x == 1) return refuse("a block is one thread");
  if (!analysis.uses_builtin("blockIdx.x") || analysis.uses_builtin("gridDim.x"))
    return refuse("the kernel does not give each block of the grid a row of its own");
  return {};
}

std::string base_name(const Expr& place) {
  const auto* base = base_variable(place);
  return base != nullptr ? base->name : "";
}

}  // namespace regraph::rewrite
