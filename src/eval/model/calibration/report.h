// What a calibration found, as text.
#pragma once

#include "eval/model/calibration/calibrate.h"

#include <map>
#include <string>

namespace regraph::calibration {

// Markdown: quality by family and overall with the shipped, the left-out and the fitted numbers,
// then the parameters before and after. `source` says where the samples come from, one line.
[[nodiscard]] std::string calibration_report(const DeviceSpec& start,
                                             const Calibration& calibration,
                                             const std::string& source);

// By name of the number, where it comes from: for write_device_table.
[[nodiscard]] std::map<std::string, std::string> fitted_sources(const DeviceSpec& start,
                                                                const Calibration& calibration);

}  // namespace regraph::calibration
