// How long one warp alone would take: a scoreboard over the PTX instructions. With few warps
// resident this, not throughput, decides the time.
#pragma once

#include "eval/model/device.h"
#include "eval/model/load_latency.h"
#include "ptx/interpreter.h"

namespace regraph {

// Clocks one warp needs for its whole run when it has the SM to itself. One instruction issues a
// clock, when its operands are there, in whatever order suits (ptxas reorders) but not across
// barriers; a loop's body is taken once as it is entered and then in steady state, times how often
// it was executed. Returns 0 for a profile that is empty or not of `program`.
[[nodiscard]] double critical_path_clocks(const ptx::Program& program, const ptx::Profile& profile,
                                          const DeviceSpec& device, const LoadLatency& global_load);

}  // namespace regraph
