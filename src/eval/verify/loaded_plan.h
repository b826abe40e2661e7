// A launch plan whose kernels the interpreter has loaded.
#pragma once

#include "base/result.h"
#include "eval/compile/compiled_plan.h"
#include "kernel/launch_plan.h"
#include "ptx/interpreter.h"

#include <optional>
#include <vector>

namespace regraph::verify {

struct LoadedLaunch {
  ptx::Program program;
  // The same kernel with its warps in reverse (warp_order.h); none: they cannot be renumbered.
  std::optional<ptx::Program> reversed_warps;
  Launch launch;
};

using LoadedPlan = std::vector<LoadedLaunch>;

// `compiled` must be of `plan`. Errors as ptx::Program::load; unsupported for a plan without a
// launch.
[[nodiscard]] Result<LoadedPlan> load_plan(const CompiledPlan& compiled, const LaunchPlan& plan);

}  // namespace regraph::verify
