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

// Grid extents from guards such as blockIdx.x * blockDim.x + threadIdx.x < n. Error (not_found):
// the axis without a guard.
[[nodiscard]] Result<Launch> infer_launch(const source::Kernel& kernel,
                                          const AccessSummary& summary, const Dim3& block);

}  // namespace regraph::infer
