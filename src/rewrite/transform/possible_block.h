// A block of more threads than there may be, as several. Used by untile.
#pragma once

#include "base/result.h"
#include "kernel/launch_plan.h"
#include "rewrite/forms/ir.h"

namespace regraph::rewrite {

struct PossibleBlock {
  Block body;
  Launch launch;
};

// The kernel in blocks of 256 threads at most, 32 of them along x, where a block has more than CUDA
// allows; as it is elsewhere. For kernels whose threads do nothing together. Error: refused, where
// the kernel knows its threads otherwise than by their place in the grid.
[[nodiscard]] Result<PossibleBlock> with_possible_block(const Kernel& kernel, Launch launch);

}  // namespace regraph::rewrite
