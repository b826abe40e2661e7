// Which part of an array a window's threads read, as a tile in shared memory. Used by window_plan.
#pragma once

#include "base/result.h"
#include "kernel/problem.h"
#include "rewrite/analysis/kernel_analysis.h"
#include "rewrite/analysis/neighbourhood.h"
#include "rewrite/analysis/window_accesses.h"
#include "rewrite/analysis/window_array.h"
#include "rewrite/analysis/window_plan.h"

#include <string>
#include <vector>

namespace regraph::rewrite {

// The array that all of `reads` are of, with its tile; without a name for the tile and without
// conditions. The plan's loops are in their order. Error: refused, with what stands against it.
[[nodiscard]] Result<WindowArray> stage_window_array(const std::string& name,
                                                     const std::vector<const WindowAccess*>& reads,
                                                     const WindowPlan& plan, const KernelForm& form,
                                                     const Problem& problem, const Launch& launch,
                                                     const NeighbourhoodFinder& finder);

}  // namespace regraph::rewrite
