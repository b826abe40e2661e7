// Times launches with events, as docs/evaluation.md says.
#pragma once

#include "eval/gpu/worker/device.h"
#include "eval/gpu/worker/device_buffers.h"

#include <functional>
#include <vector>

namespace regraph::gpu::worker {

// The function that a launch names.
using FindFunction = std::function<CUfunction(const LaunchMessage&)>;

// Throws a Failure; one that is final after a kernel that does not end.
[[nodiscard]] TimeResponse time_runs(const Device& device, const DeviceBuffers& buffers,
                                     const FindFunction& find, const TimeRequest& request);

}  // namespace regraph::gpu::worker
