// How long one warp alone would take, by the schedule that ptxas wrote into the machine code.
#pragma once

#include "eval/model/device.h"
#include "eval/model/load_latency.h"
#include "sass/execution_counts.h"
#include "sass/machine_code.h"

namespace regraph {

// Clocks one warp needs for its whole run when it has the SM to itself. Instructions issue in
// order: each waits for the stall clocks of the one before and for the barriers in its mask, which
// fall when loads and other work of unknown length are done. A loop's body is taken once as it is
// entered and once in steady state, times how often it was executed.
[[nodiscard]] double machine_path_clocks(const sass::MachineCode& code,
                                         const sass::ExecutionCounts& counts,
                                         const DeviceSpec& device, const LoadLatency& global_load);

}  // namespace regraph
