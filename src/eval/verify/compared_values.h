// Numbers that a kernel compares with: where its paths may part.
#pragma once

#include "eval/verify/loaded_plan.h"
#include "kernel/launch_plan.h"

#include <cstdint>
#include <vector>

namespace regraph::verify {

// Integer constants, from 2 on, that comparisons in the plan's kernels have as an operand;
// ascending, each once, the smallest 64 of them.
[[nodiscard]] std::vector<std::int64_t> compared_values(const LoadedPlan& plan);

// Blocks of a grid whose coordinates, or those of their threads, are near `values`: at them, before
// and after. At most 48.
[[nodiscard]] std::vector<std::uint64_t> blocks_near(const std::vector<std::int64_t>& values,
                                                     const Dim3& grid, const Dim3& block);

}  // namespace regraph::verify
