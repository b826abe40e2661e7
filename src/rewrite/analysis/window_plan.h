// What a nest of loops over a window reads from shared memory, and how it gets there. Used by
// window_tile.
#pragma once

#include "base/result.h"
#include "kernel/problem.h"
#include "rewrite/analysis/kernel_analysis.h"
#include "rewrite/analysis/window_array.h"
#include "rewrite/analysis/window_nest.h"
#include "rewrite/forms/ir.h"

#include <optional>
#include <string>
#include <vector>

namespace regraph::rewrite {

struct WindowPlan {
  WindowNest nest;
  std::int64_t depth = 1;  // iterations of the strip loop that are staged at once
  std::string outer;       // names of the strip's first iteration, and of one within it
  std::string inner;
  std::vector<WindowArray> arrays;
  std::vector<std::size_t> order;  // of nest.loops in the new code, outermost first
  std::vector<bool> written_out;   // by loop of `order`: unrolled completely
  bool reorders = false;           // floating-point sums get another order
  bool may_meet_infinity = false;  // zeros stand for what guards skip: infinity * 0 is no zero

  [[nodiscard]] const WindowArray* array(const std::string& name) const;
};

// `depth`: iterations of an outer loop of unknown length that are staged at once; nothing where
// there must be no such loop. `by_vectors`: boxes are filled by vectors. Error: refused, with the
// reason, as where no box can be.
[[nodiscard]] Result<WindowPlan> plan_window(const KernelForm& form, const Launch& launch,
                                             const Problem& problem,
                                             std::optional<std::int64_t> depth, bool by_vectors);

}  // namespace regraph::rewrite
