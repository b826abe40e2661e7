// Recognises a tree reduction over a shared array. Used by reduce_shuffle.
#pragma once

#include "base/result.h"
#include "kernel/launch_plan.h"
#include "rewrite/analysis/reduction.h"
#include "rewrite/forms/ir.h"
#include "source/analysis.h"

#include <cstddef>

namespace regraph::rewrite {

struct ReductionTree {
  // How elements are put together. Its variable is the array: shared, one-dimensional, as long as
  // the block at least.
  Reduction sum;
  bool halves = false;  // the stride, else it doubles; a halving tree's threads lie side by side
};

// Matches the statement at `position` of the block. Error: refused, with what differs from a tree.
[[nodiscard]] Result<ReductionTree> match_reduction_tree(const Block& body,
                                                         const Analysis& analysis,
                                                         std::size_t position, const Dim3& block);

}  // namespace regraph::rewrite
