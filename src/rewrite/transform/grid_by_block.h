// A grid of fixed extents, as one that follows the block.
#pragma once

#include "kernel/launch_plan.h"
#include "rewrite/forms/ir.h"

namespace regraph::rewrite {

struct GridByBlock {
  Block body;
  Launch launch;
};

// grid "cdiv(n, 32)" in blocks of 32 -> "cdiv(n, bx)", along each axis on which the block has
// several threads, so that another block may follow. Where the kernel's own guards do not stop
// threads beyond the old grid, it gets one:
//   c[row * n + column] = ..  ->
//   const int column_end = n / 32 * 32;  if (column < column_end) c[row * n + column] = ..
// where the extent is made of the kernel's parameters. Axes for which that cannot be said keep
// their extent. For kernels whose threads do nothing together.
[[nodiscard]] GridByBlock with_grid_by_block(const Kernel& kernel, const Launch& launch);

}  // namespace regraph::rewrite
