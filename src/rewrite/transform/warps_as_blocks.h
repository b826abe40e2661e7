// Blocks of several rows, each of which is one warp's, as blocks of one warp. Used by row_kernel.
//
//   row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;        row = blockIdx.x;
//   lane = threadIdx.x % 32;                                   ->   lane = threadIdx.x;
//   blocks of 256 threads                                           blocks of 32 threads, 8 times as many
#pragma once

#include "base/result.h"
#include "rewrite/analysis/kernel_analysis.h"

namespace regraph::rewrite {

// The state with a block for each warp. Error: refused: blocks are one warp, warps of a block share
// memory or wait for each other, or a warp is asked for in other ways than by its number in the
// grid.
[[nodiscard]] Result<KernelState> with_warps_as_blocks(const KernelAnalysis& kernel);

}  // namespace regraph::rewrite
