// A launch that fits a kernel's guards.
#pragma once

#include "base/result.h"
#include "infer/access_summary.h"
#include "kernel/launch_plan.h"
#include "source/ir.h"

namespace regraph::infer {

// The block that the kernel's launch bounds and shared arrays ask for, else 256 threads in x,
// 16x16 or 8x8x4 by the axes it uses.
[[nodiscard]] Dim3 default_block(const source::Kernel& kernel);

// `block` with the extent in x that makes threadIdx.x / c number all rows of a block: for an index
// blockIdx.x * 32 + threadIdx.x / 16 it is 512.
[[nodiscard]] Dim3 block_of_fractions(const AccessSummary& summary, const Dim3& block);

// Grid extents from guards such as blockIdx.x * blockDim.x + threadIdx.x < n. Error (not_found):
// the axis without a guard.
[[nodiscard]] Result<Launch> infer_launch(const source::Kernel& kernel,
                                          const AccessSummary& summary, const Dim3& block);

}  // namespace regraph::infer
