// Who can do a job, as the names of lanes.
#pragma once

#include <string>
#include <string_view>

namespace regraph::fleet {

// Predictions, of whatever device.
[[nodiscard]] std::string prediction_lane(const std::string& version);
// Measurements on a GPU called `device` ("NVIDIA H200"), of those at one driver.
[[nodiscard]] std::string measurement_lane(const std::string& version, std::string_view device);

}  // namespace regraph::fleet
