// A block in one row whose threads take their number apart, as a block of rows.
#pragma once

#include "base/result.h"
#include "kernel/launch_plan.h"
#include "rewrite/forms/ir.h"

namespace regraph::rewrite {

struct BlockOfRows {
  Block body;
  Launch launch;
};

// threadIdx.x % 32 and threadIdx.x / 32 in blocks of 1024 -> threadIdx.x and threadIdx.y in blocks
// of 32 x 32, also said with & and >>, and by a name for threadIdx.x. Every thread keeps its number
// in the block, x fastest, so that warps, barriers and shared memory see nothing of it. Error:
// refused, where the number is not only taken apart, or not by one constant that divides the block.
// Expressions of the launch that are written in the block's extents keep their values.
[[nodiscard]] Result<BlockOfRows> with_block_of_rows(const Kernel& kernel, const Launch& launch);

}  // namespace regraph::rewrite
