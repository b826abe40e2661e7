// How long loads from global memory take, from where the simulated caches served them.
#pragma once

#include "eval/model/device.h"
#include "ptx/caches/cache_simulation.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace regraph {

struct LoadLatency {
  double clocks = 0.0;  // of an average load
  // The same of single loads, by PTX instruction; 0 or past the end: as the average one.
  std::vector<double> by_instruction = {};
  double local = 0.0;  // of loads from local memory

  [[nodiscard]] double of(std::int32_t instruction) const {
    const auto index = static_cast<std::size_t>(instruction);
    const bool known = instruction >= 0 && index < by_instruction.size();
    return known && by_instruction[index] > 0.0 ? by_instruction[index] : clocks;
  }
};

// `resident_warps`: of the busiest SM. A load that finds in L1 what another one asked for a moment
// ago waits for it too if that is still on its way. The simulation sees both in one quantum of
// instructions, which the resident warps take 4 a clock: of a latency that is shorter than that
// only this share is waited for.
[[nodiscard]] LoadLatency load_latency(const ptx::CacheTraffic& traffic, const DeviceSpec& device,
                                       double resident_warps);

}  // namespace regraph
