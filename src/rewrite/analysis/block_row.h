// Blocks of one axis that have a row each: the thread's place in it. Used by the transformations
// that take such blocks for one thread.
#pragma once

#include "base/result.h"
#include "kernel/launch_plan.h"
#include "rewrite/analysis/kernel_analysis.h"
#include "rewrite/forms/ir.h"
#include "source/analysis.h"

#include <optional>
#include <string>

namespace regraph::rewrite {

// The builtin that tells a thread its place.
inline constexpr const char* kPlaceInRow = "threadIdx.x";

class BlockRow {
 public:
  // `analysis` must outlive it.
  BlockRow(const Analysis& analysis, const Dim3& block) : analysis_(analysis), block_(block) {}

  [[nodiscard]] std::uint32_t threads() const { return block_.x; }
  // With the block's extents as numbers.
  [[nodiscard]] std::optional<Polynomial> polynomial(const ExprPtr& expr) const;
  // Whether the place is the thread's own element of a shared array.
  [[nodiscard]] bool is_own_slot(const Expr& place) const;
  // Whether the condition is threadIdx.x == 0, said in one way or another.
  [[nodiscard]] bool is_first_thread(const ExprPtr& condition) const;

 private:
  const Analysis& analysis_;
  Dim3 block_;
};

// Refuses kernels whose blocks are no rows: of several axes, of one thread, of warps that work
// together in `form`, which is the kernel in one form or another, or with functions that nothing is
// known of.
[[nodiscard]] Status require_block_a_row(const KernelAnalysis& kernel, const KernelForm& form,
                                         const Launch& launch);

// The array or variable that the place is of; empty for others.
[[nodiscard]] std::string base_name(const Expr& place);

}  // namespace regraph::rewrite
