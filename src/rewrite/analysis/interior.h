// A condition on the block under which guards hold for all its threads, in all iterations: where it
// holds the block lies inside, and needs no guards. Used by branch_hoist.
//
//   if (x > 0 && x < width - 1) ...,  x = blockIdx.x * 32 + threadIdx.x
//   ->  blockIdx.x * 32 > 0  &&  blockIdx.x * 32 + 31 < width - 1
#pragma once

#include "base/result.h"
#include "kernel/launch_plan.h"
#include "rewrite/forms/ir.h"
#include "source/analysis.h"

#include <set>
#include <vector>

namespace regraph::rewrite {

struct Interior {
  std::vector<ExprPtr> conditions;  // the same for all threads of a block
  // The comparisons in the kernel that hold where all conditions do. They point into the kernel.
  std::set<const Expr*> implied;
};

// Looks at the comparisons of branches and of ?: in the kernel, which has one way out. Comparisons
// with memory, with products of what varies, or for equality are left alone; x != 0 is taken for x
// > 0 and x != n - 1 for x < n - 1. Error: refused, where no guard asks about threads or
// iterations.
[[nodiscard]] Result<Interior> interior_of(const Kernel& kernel, const Analysis& analysis,
                                           const Dim3& block);

// The same for a thread that does the work of several along x, in straight code: conditions that
// differ between threads. A comparison along x that fails for the first or the last thread of a row
// alone is neither asked nor implied where nothing but a value depends on it: it stays as it is.
// Never refused for lack of guards.
[[nodiscard]] Result<Interior> interior_of_threads(const Kernel& kernel, const Analysis& analysis,
                                                   const Dim3& block);

// Whether the body, shared arrays aside, is one branch with both parts: what branch_hoist makes.
[[nodiscard]] bool has_interior_version(const Block& body);

}  // namespace regraph::rewrite
