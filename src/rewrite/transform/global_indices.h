// A thread's place in the grid under a name, where it is only said in parts.
#pragma once

#include "kernel/launch_plan.h"
#include "rewrite/forms/ir.h"

namespace regraph::rewrite {

// Returns the kernel's body in which indices that take thread and block along an axis as one place,
// by numbers, do so by a name that is declared in front:
//   c[n * 16 * blockIdx.y + n * threadIdx.y]  ->  const int row = blockIdx.y * blockDim.y +
//                                                threadIdx.y;  c[n * row]
// Along axes where some expression takes them otherwise, nothing changes.
[[nodiscard]] Block with_global_indices(const Kernel& kernel, const Dim3& block);

}  // namespace regraph::rewrite
