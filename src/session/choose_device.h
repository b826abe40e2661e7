// Which device a session is for, and whether its times are measured or predicted.
#pragma once

#include "base/cancellation.h"
#include "eval/gpu/protocol/messages.h"
#include "eval/model/device.h"
#include "eval/model/device_table.h"
#include "session/session_error.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace regraph {

struct DeviceRequest {
  std::string name;  // of a device or an architecture, or a .yaml file; empty: the GPU that is here
  std::string table;  // text of such a file as a run recorded it; then `name` counts for nothing
  std::string evaluator = "auto";  // a name of evaluator_kinds()
};

struct ChosenDevice {
  DeviceSpec device;
  std::string table;  // the device as a file's text when it came from one, else empty
  std::optional<gpu::DeviceProperties> gpu;  // that is here; none: times are not measured here
  // That workers of a fleet have; none: times are measured here or predicted.
  std::optional<gpu::DeviceProperties> fleet_gpu;
  std::string note;  // what a user may not have expected; empty: nothing
};

// Finds a device and, unless times are to be predicted, whether it is here. With a file, a GPU here
// is its device when it is the file's base. With "auto" a GPU is used when it is the device that
// was named, or none was named. Errors: usage, no_device.
[[nodiscard]] Result<ChosenDevice, SessionError> choose_device(const DeviceRequest& request,
                                                               const std::filesystem::path& worker,
                                                               const Cancellation& cancellation);

// The same where workers of a fleet with these GPUs measure, and nobody here does.
[[nodiscard]] Result<ChosenDevice, SessionError> choose_fleet_device(
    const DeviceRequest& request, const std::vector<gpu::DeviceProperties>& gpus);

// Whether `device`, a name as given to --device, names a file: it ends in .yaml or .yml.
[[nodiscard]] bool is_device_file(const std::string& device);

// The device called `device`: a known name or architecture, or a file. Errors: as find_device and
// read_device_table.
[[nodiscard]] Result<DeviceTable> named_device(const std::string& device);

}  // namespace regraph
