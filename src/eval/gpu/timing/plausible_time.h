// Whether a measured time can be, by what the manifest says must be done and what the device can
// do.
#pragma once

#include "eval/model/device.h"
#include "kernel/problem.h"

#include <optional>
#include <string>

namespace regraph::gpu {

// Why `seconds` (median, cold, of the one bench size) cannot be the time of this work, in words;
// nothing when it can, when there are several bench sizes, or when the manifest says no amounts. An
// original that is itself faster than its amounts allow shows that they are overstated: then
// nothing is impossible. See check_speed_of_light.
[[nodiscard]] std::optional<std::string> impossible_time(const Problem& problem,
                                                         const DeviceSpec& device,
                                                         double original_seconds, double seconds);

}  // namespace regraph::gpu
