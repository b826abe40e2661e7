// Literal block extents as blockDim.
#pragma once

#include "kernel/launch_plan.h"
#include "rewrite/forms/ir.h"

namespace regraph::rewrite {

// The body with `blockIdx.x * 256 + threadIdx.x`, along any axis, as `blockIdx.x * blockDim.x +
// threadIdx.x` where blocks of the launch have that extent: a thread's global index, however it is
// said; also where the indices have a name (`int bx = blockIdx.x`).
[[nodiscard]] Block with_named_block_extents(const Block& body, const Dim3& block);

// The body with the indices and extents of the axes y and z along which the launch's blocks are one
// thread wide as 0 and 1: `threadIdx.y * blockDim.x + threadIdx.x` of a flat block is threadIdx.x.
[[nodiscard]] Block without_unit_axes(const Block& body, const Dim3& block);

}  // namespace regraph::rewrite
