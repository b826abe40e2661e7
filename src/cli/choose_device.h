// Which device a run is for, and whether it is measured or predicted.
#pragma once

#include "base/cancellation.h"
#include "cli/exit_codes.h"
#include "eval/gpu/protocol/messages.h"
#include "eval/model/device.h"

#include <optional>
#include <string>
#include <variant>

namespace regraph::cli {

struct ChosenDevice {
  DeviceSpec device;
  std::string table;  // the device as a file's text when it came from one, else empty
  std::optional<gpu::DeviceProperties> gpu;  // none: times are predicted
  std::string note;                          // what a user may not have expected; empty: nothing
};

// Why there is no device: what to print and the exit code.
struct NoDevice {
  int exit_code = kNoDevice;
  std::string message;
};

// `device` as given: a name, an architecture, a file (named_device.h) or empty. With a file, a GPU
// here is its device when it is the file's base; `evaluator` is "auto", "gpu", "gpu-only" or
// "model"; `worker` is the GPU worker's program. With "auto" a GPU is used when it is the device
// that was named, or none was named.
[[nodiscard]] std::variant<ChosenDevice, NoDevice> choose_device(const std::string& device,
                                                                 const std::string& evaluator,
                                                                 const std::string& worker,
                                                                 const Cancellation& cancellation);

}  // namespace regraph::cli
