// The device a user names: one that is built in, or a file.
#pragma once

#include "base/result.h"
#include "eval/model/device_table.h"

#include <string>

namespace regraph::cli {

// Whether `device` names a file: it ends in .yaml or .yml.
[[nodiscard]] bool is_device_file(const std::string& device);

// Reads the file, or finds the built-in device, whose base it is itself. Errors as
// read_device_table and find_device.
[[nodiscard]] Result<DeviceTable> named_device(const std::string& device);

}  // namespace regraph::cli
