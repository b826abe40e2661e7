// Runs parts of a launch at its real size to learn its counters and memory traffic.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "base/thread_budget.h"
#include "eval/model/device.h"
#include "eval/model/occupancy.h"
#include "kernel/problem.h"
#include "ptx/caches/cache_simulation.h"
#include "ptx/interpreter.h"

#include <cstdint>
#include <vector>

namespace regraph {

struct LaunchSample {
  ptx::Fault fault;           // of a sampled block; with one, the rest says nothing
  ptx::Profile profile;       // of the sampled blocks
  ptx::CacheTraffic traffic;  // of the whole grid
  // Where blocks differ so much that two do not stand for all: the standard error of the mean work
  // of those that were run instead, over that mean. 0 where they are alike.
  double spread_error = 0.0;
};

// Samples `launch` with buffers of the sizes `symbols` give. Buffers hold a repeating pattern of
// the arguments' inits and are backed only where they are touched. Errors: buffers too large for
// any device or arguments that do not fit the kernel (invalid_argument, not_found), address
// computations the cache simulation cannot follow (unsupported), no memory (resource), cancelled.
// `threads`: those it may use beside the caller's; null for none. The result does not depend on
// them.
[[nodiscard]] Result<LaunchSample> sample_launch(
    const Problem& problem, const ptx::Program& program, const ConcreteLaunch& launch,
    const Symbols& symbols, const DeviceSpec& device, const Occupancy& occupancy,
    std::int64_t shared_bytes_per_block, const Cancellation& cancellation,
    ThreadBudget* threads = nullptr);

// Runs the given blocks of the launch alone, one after another, until they have taken
// `instructions` warp instructions; the profile says how many it were, at least one. Errors as
// sample_launch, and invalid_argument for the fault of a block.
[[nodiscard]] Result<ptx::Profile> sample_blocks(
    const Problem& problem, const ptx::Program& program, const ConcreteLaunch& launch,
    const Symbols& symbols, const std::vector<std::uint64_t>& blocks, std::uint64_t instructions,
    const Cancellation& cancellation);

}  // namespace regraph
