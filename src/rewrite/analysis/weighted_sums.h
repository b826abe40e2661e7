// What a loop adds up that is weighted by exponentials: linear in them, so that scaling all weights
// scales the sums. Used by online_loops.
#pragma once

#include "base/result.h"
#include "rewrite/forms/ir.h"
#include "source/analysis.h"

#include <functional>
#include <string>
#include <vector>

namespace regraph::rewrite {

struct WeightedSums {
  std::vector<Variable> accumulators;  // scalars and arrays of the thread's own
  // Every iteration adds a weight to all elements of each.
  bool are_added_always = true;
};

// The sums of the loop body, in which `is_weight` says what a weight is. Error: refused, where
// weights go anywhere else, or the body does what cannot be done in another iteration.
[[nodiscard]] Result<WeightedSums> weighted_sums(
    const Block& body, const Analysis& analysis,
    const std::function<bool(const ExprPtr&)>& is_weight);

}  // namespace regraph::rewrite
