// How much work a launch plan is, seen from a few of its blocks.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "eval/verify/loaded_plan.h"
#include "kernel/problem.h"

namespace regraph::verify {

struct LaunchWork {
  double warp_instructions = 0.0;  // of all blocks of all launches
  double longest_warp = 0.0;       // instructions of a warp, averaged over its block; the most
};

// Runs the first, the middle and the last block of each launch at these sizes. A block that takes
// more than `most_of_warp` instructions a warp counts as if it ended there: what is returned is the
// least then. Errors: a block fails, or the launch cannot be set up; cancelled.
[[nodiscard]] Result<LaunchWork> estimate_work(const Problem& problem, const LoadedPlan& plan,
                                               const Symbols& symbols, double most_of_warp,
                                               const Cancellation& cancellation);

}  // namespace regraph::verify
