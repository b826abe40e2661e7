// What a candidate may change of a launch, as an answer or the user says it.
#pragma once

#include "base/result.h"
#include "kernel/launch_plan.h"
#include "kernel/problem.h"

#include <array>
#include <string>
#include <string_view>

namespace regraph {

struct LaunchChange {
  Dim3 block;
  std::array<IntegerExpression, 3> grid = {1, 1, 1};
  IntegerExpression dynamic_shared_bytes = 0;
  bool operator==(const LaunchChange&) const = default;
};

// Reads {block, grid, smem} in the manifest's form, YAML or JSON, alone or under the key `launch`.
// At most 4 KiB. Errors (parse) say what is wrong and how it should look: other keys, text that is
// no expression, a block over 1024 threads.
[[nodiscard]] Result<LaunchChange> read_launch_change(std::string_view text);

// Whether the launch can be: every symbol is a size of the problem or bx, by, bz, and grid and
// block are within CUDA's limits at every size that is tested or timed. Error (parse).
[[nodiscard]] Status check_launch_change(const LaunchChange& change, const Problem& problem);

// Returns `plan` with the launch of `kernel` changed. Other launches stay as they are.
[[nodiscard]] LaunchPlan changed_plan(LaunchPlan plan, std::string_view kernel,
                                      const LaunchChange& change);

}  // namespace regraph
