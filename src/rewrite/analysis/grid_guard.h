// What stops blocks beyond the end of a grid. Used by thread_coarsen.
#pragma once

#include "base/result.h"
#include "kernel/launch_plan.h"
#include "rewrite/forms/ir.h"
#include "source/analysis.h"

#include <optional>
#include <string>

namespace regraph::rewrite {

// Whether every access to global memory is under a guard, as `index < n`, that fails for all blocks
// beyond the grid along `axis` (0 to 2), which the extents of the grid tell (ranges.h). Loads that
// are the same for all blocks need no guard.
[[nodiscard]] bool grid_is_guarded(const Kernel& kernel, const Analysis& analysis,
                                   const Launch& launch, int axis);
// Why that is not so, in words, with the line and the guards that are there; nothing where it is.
[[nodiscard]] std::optional<std::string> grid_guard_obstacle(const Kernel& kernel,
                                                             const Analysis& analysis,
                                                             const Launch& launch, int axis);

// The grid's extent along `axis` as kernel code over integer parameters of the kernel; null where
// it is made of anything else. Where it is null, what was launched before is gridDim, as long as
// the grid stays as it is.
[[nodiscard]] ExprPtr grid_extent(const Launch& launch, int axis, const Kernel& kernel);

// How many threads there are along `axis`, where no guard stops at them; null where one does.
// Error: refused, where the kernel could not tell.
[[nodiscard]] Result<ExprPtr> thread_limit(const Kernel& kernel, const Analysis& analysis,
                                           const Launch& launch, int axis);

}  // namespace regraph::rewrite
