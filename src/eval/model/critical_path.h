// How long one warp alone would take: a scoreboard over the PTX instructions. With few warps
// resident this, not throughput, decides the time.
#pragma once

#include "eval/model/device.h"
#include "ptx/interpreter.h"

#include <cstdint>
#include <vector>

namespace regraph {

// Average latency in clocks of a global load, from where the simulated caches served it.
struct LoadLatency {
  double clocks = 0.0;
  // The same of single loads, by PTX instruction; 0 or past the end: as the average one.
  std::vector<double> by_instruction = {};

  [[nodiscard]] double of(std::int32_t instruction) const {
    const auto index = static_cast<std::size_t>(instruction);
    const bool known = instruction >= 0 && index < by_instruction.size();
    return known && by_instruction[index] > 0.0 ? by_instruction[index] : clocks;
  }
};

// Clocks one warp needs for its whole run when it has the SM to itself. One instruction issues a
// clock, when its operands are there, in whatever order suits (ptxas reorders) but not across
// barriers; a loop's body is taken once as it is entered and then in steady state, times how often
// it was executed. Returns 0 for a profile that is empty or not of `program`.
[[nodiscard]] double critical_path_clocks(const ptx::Program& program, const ptx::Profile& profile,
                                          const DeviceSpec& device, const LoadLatency& global_load);

}  // namespace regraph
