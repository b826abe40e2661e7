// Conditions around what a window reads: which of them go, and where tiles hold zeros in their
// stead. Used by window_plan.
#pragma once

#include "base/result.h"
#include "rewrite/analysis/kernel_analysis.h"
#include "rewrite/analysis/neighbourhood.h"
#include "rewrite/analysis/window_accesses.h"
#include "rewrite/analysis/window_nest.h"
#include "rewrite/analysis/window_plan.h"

#include <vector>

namespace regraph::rewrite {

// Guards about threads and copies go: what is added where they fail must not be seen. Error:
// refused, where it is.
[[nodiscard]] Status check_thread_guards(const WindowNest& nest, const KernelForm& form);

// Finds where tiles hold zeros because the original reads nothing there: sets the conditions of the
// plan's arrays, and whether infinities may be met. Error: refused, where a condition is about
// more than an element's own place, or not the same for all that read it.
[[nodiscard]] Status take_window_conditions(WindowPlan& plan,
                                            const std::vector<WindowAccess>& accesses,
                                            const KernelForm& form,
                                            const NeighbourhoodFinder& finder);

}  // namespace regraph::rewrite
