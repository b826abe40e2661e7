// What stops blocks beyond the end of a grid. Used by thread_coarsen.
#pragma once

#include "kernel/launch_plan.h"
#include "source/analysis.h"
#include "source/ir.h"

#include <optional>
#include <string>

namespace regraph::rewrite {

// Whether every access to global memory is under a guard `index < n` that fails for all blocks
// beyond the grid along `axis` (0 to 2): the index grows with the block's number and the grid is
// cdiv(n, ...). Loads that are the same for all blocks need no guard.
[[nodiscard]] bool grid_is_guarded(const source::Kernel& kernel, const source::Analysis& analysis,
                                   const Launch& launch, int axis);
// Why that is not so, in words, with the line and the guards that are there; nothing where it is.
[[nodiscard]] std::optional<std::string> grid_guard_obstacle(const source::Kernel& kernel,
                                                             const source::Analysis& analysis,
                                                             const Launch& launch, int axis);

// The grid's extent along `axis` as kernel code, for the forms n, 12 and cdiv(n, 256) over integer
// parameters of the kernel; null for any other.
[[nodiscard]] source::ExprPtr grid_extent(const Launch& launch, int axis,
                                          const source::Kernel& kernel);

}  // namespace regraph::rewrite
