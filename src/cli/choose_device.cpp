#include "cli/choose_device.h"

#include "cli/named_device.h"
#include "eval/gpu/protocol/gpu_device.h"
#include "eval/gpu/protocol/gpu_process.h"

#include <fmt/format.h>

namespace regraph::cli {

std::variant<ChosenDevice, NoDevice> choose_device(const std::string& device,
                                                   const std::string& evaluator,
                                                   const std::string& worker,
                                                   const Cancellation& cancellation) {
  ChosenDevice chosen;
  const bool must_measure = evaluator == "gpu" || evaluator == "gpu-only";
  // A name that is wrong is wrong on every machine. "gpu" is what runs on an unnamed one are for.
  const bool any = device.empty() || device == "gpu";
  // What the GPU must be called for its times to be those of `device`.
  std::string gpu_name = device;
  if (!any) {
    auto named = named_device(device);
    if (named) {
      chosen.device = std::move(named->device);
    } else if (!device.starts_with("sm_") || evaluator == "model") {
      return NoDevice{kUsage, "--device: " + named.error().message};
    }
    if (is_device_file(device)) {
      chosen.table = *write_device_table(chosen.device, named->base);
      gpu_name = named->base;
    }
  }
  if (evaluator == "model") {
    if (!any) return chosen;
    return NoDevice{kNoDevice, "--evaluator model predicts: name the device with --device"};
  }
  const auto gpu = gpu::probe_gpu(worker, 0, cancellation);
  if (gpu.ok() && (any || gpu::is_device(*gpu, gpu_name))) {
    // A file knows better than the tables, which is what it is for.
    if (chosen.table.empty()) chosen.device = gpu::model_of(*gpu);
    chosen.gpu = *gpu;
    if (chosen.device.name == "gpu") {
      chosen.note = fmt::format(
          "{} ({}) is not in the model's tables: its predictions are rough here, and only choose "
          "what to measure first",
          gpu->name, gpu->architecture);
    }
    return chosen;
  }
  const std::string why = !gpu.ok() ? gpu.error().message
                                    : fmt::format("the GPU here is an {} ({}), not '{}'", gpu->name,
                                                  gpu->architecture, gpu_name);
  if (must_measure) return NoDevice{kNoDevice, "--evaluator " + evaluator + ": " + why};
  if (any) {
    std::string names;
    for (const DeviceSpec& known : known_devices())
      names += (names.empty() ? "" : ", ") + std::string(known.name);
    return NoDevice{kNoDevice, fmt::format("there is no GPU to measure on ({}); name the device to "
                                           "predict for with --device ({})",
                                           why, names)};
  }
  if (chosen.device.name.empty()) {
    return NoDevice{kUsage, "--device: " + find_device(device).error().message};
  }
  // A driver that is there but does not do is worth a word; no driver is the common case.
  if (gpu.ok() || gpu.error().code != ErrorCode::not_found) {
    chosen.note = "times are predicted, not measured: " + why;
  }
  return chosen;
}

}  // namespace regraph::cli
