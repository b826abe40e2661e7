// Rows whose elements the threads of a block take in turn, as rows of one thread each. Used by
// thread_per_element.
#pragma once

#include "base/result.h"
#include "rewrite/analysis/grid_stride_loop.h"
#include "rewrite/analysis/kernel_analysis.h"

namespace regraph::rewrite {

// The state in which one thread does what a block did, element after element:
//   for (c = threadIdx.x; c < n; c += blockDim.x) work of blockIdx.x and c
// becomes, with a thread for each of the blocks that there were,
//   row = global index; if (row < blocks) for (c = 0; c < n; ++c) work of row and c
// `loop.is_of_block` holds. Error: refused, where the number of blocks is no number that the kernel
// knows.
[[nodiscard]] Result<KernelState> one_thread_a_block(const KernelAnalysis& kernel,
                                                     const GridStrideLoop& loop);

}  // namespace regraph::rewrite
