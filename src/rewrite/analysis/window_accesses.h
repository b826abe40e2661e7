// What a nest of loops over a window reads. Used by window_plan.
#pragma once

#include "base/result.h"
#include "kernel/problem.h"
#include "rewrite/analysis/kernel_analysis.h"
#include "rewrite/analysis/window_nest.h"
#include "rewrite/forms/ir.h"

#include <string>
#include <vector>

namespace regraph::rewrite {

// One access of a staged array, with what holds where the original makes it.
struct WindowAccess {
  std::string array;
  ExprPtr index;
  std::vector<ExprPtr> conditions;  // beyond the guards of its update
  const WindowUpdate* update = nullptr;
};

// The accesses of all updates, in their order; they refer to the nest's updates. Error: refused,
// where something is read that no tile could hold.
[[nodiscard]] Result<std::vector<WindowAccess>> window_accesses(const KernelForm& form,
                                                                const WindowNest& nest,
                                                                const Dim3& block,
                                                                const Problem& problem);

}  // namespace regraph::rewrite
