// Kernels that give each thread of a one-dimensional grid a row of its own. Used by the steps that
// let several threads share it.
#pragma once

#include "base/result.h"
#include "rewrite/analysis/kernel_analysis.h"
#include "rewrite/forms/ir.h"

namespace regraph::rewrite {

// Error: refused, where a thread is not known by its global index along x alone, or where threads
// work together already.
[[nodiscard]] Status require_thread_a_row(const KernelAnalysis& kernel, const Launch& launch);

// The grid's x extent for blocks that cover the same rows with `rows` of them a block. Error:
// refused.
[[nodiscard]] Result<IntegerExpression> grid_for_rows(const KernelForm& form, const Launch& launch,
                                                      int rows);

// The launch of blocks of the extents `block` that cover the same rows with `rows` of them a block.
// Error: refused.
[[nodiscard]] Result<Launch> launch_for_rows(const KernelForm& form, const Launch& launch, int rows,
                                             const Dim3& block);

// Whether so many threads can share a row in whole warps, or, where rows `share_warps`, in equal
// parts of warps. Error: invalid_argument.
[[nodiscard]] Status require_row_team(int threads_per_row, int rows_per_block, bool share_warps);

}  // namespace regraph::rewrite
