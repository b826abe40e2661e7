// In which order the loops over a window are done, and which of them are written out. Used by
// window_plan.
#pragma once

#include "affine/neighbourhood.h"
#include "base/result.h"
#include "kernel/problem.h"
#include "rewrite/analysis/window_accesses.h"
#include "rewrite/analysis/window_plan.h"
#include "rewrite/forms/ir.h"

#include <string>
#include <vector>

namespace regraph::rewrite {

// Whether what is added to the variable rounds, so that another order gives another sum.
[[nodiscard]] bool is_floating_sum(const std::string& sum, const Analysis& analysis);

// Sets the plan's order, what is written out and whether sums get another order. Copies go
// innermost. Where there is too much to write out, the loop whose iterations share what copies read
// comes next to them. Error: refused, where sums could not be kept in registers.
[[nodiscard]] Status order_window_loops(WindowPlan& plan, const std::vector<WindowAccess>& accesses,
                                        const NeighbourhoodFinder& finder, const Analysis& analysis,
                                        const Problem& problem);

}  // namespace regraph::rewrite
