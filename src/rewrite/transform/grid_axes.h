// A grid whose axes go with the other axis of the block, exchanged.
#pragma once

#include "kernel/launch_plan.h"
#include "rewrite/forms/ir.h"

#include <optional>

namespace regraph::rewrite {

struct ExchangedGrid {
  Block body;
  Launch launch;
};

// row = blockIdx.x * 32 + threadIdx.y, column = blockIdx.y * 32 + threadIdx.x -> with blockIdx.x
// and .y exchanged, and the grid's extents with them. Any numbering of blocks does the same work.
// Nothing where some index takes thread and block along one axis as a place, where x and y do not
// both go with the other axis, or where the grid is written in the block's extents.
[[nodiscard]] std::optional<ExchangedGrid> with_grid_exchanged(const Kernel& kernel,
                                                               const Launch& launch);

}  // namespace regraph::rewrite
