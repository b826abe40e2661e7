#include "session/choose_device.h"

#include "eval/gpu/protocol/gpu_device.h"
#include "eval/gpu/protocol/gpu_process.h"
#include "session/evaluators.h"

#include <fmt/format.h>

#include <functional>
#include <utility>

namespace regraph {

namespace {

SessionError no_device(std::string message) {
  return {FailureCause::no_device, std::move(message)};
}

// A device that was named, and what a GPU must be called for its times to count as that device's.
struct NamedDevice {
  ChosenDevice chosen;  // its device without a name: an architecture that the tables do not have
  std::string gpu_name;
};

// Names of evaluators are checked with the options; a library's user may give another.
EvaluatorKind::Gpu use_of_gpu(const DeviceRequest& request) {
  const EvaluatorKind* kind = find_evaluator_kind(request.evaluator);
  return kind != nullptr ? kind->gpu : EvaluatorKind::Gpu::if_there;
}

Result<NamedDevice, SessionError> find_named(const DeviceRequest& request) {
  NamedDevice result;
  result.gpu_name = request.name;
  auto named = request.table.empty() ? named_device(request.name)
                                     : parse_device_table(request.table, "the recorded device");
  if (named) {
    result.chosen.device = std::move(named->device);
  } else if (!request.name.starts_with("sm_") ||
             use_of_gpu(request) == EvaluatorKind::Gpu::not_used) {
    return usage("--device: " + named.error().message);
  }
  if (!request.table.empty() || is_device_file(request.name)) {
    result.chosen.table = *write_device_table(result.chosen.device, named->base);
    result.gpu_name = named->base;
  }
  return result;
}

std::string known_names() {
  std::string names;
  for (const DeviceSpec& known : known_devices())
    names += (names.empty() ? "" : ", ") + std::string(known.name);
  return names;
}

}  // namespace

bool is_device_file(const std::string& device) {
  return device.ends_with(".yaml") || device.ends_with(".yml");
}

Result<DeviceTable> named_device(const std::string& device) {
  if (is_device_file(device)) return read_device_table(device);
  auto known = find_device(device);
  if (!known) return known.error();
  std::string base = known->name;
  return DeviceTable{*std::move(known), std::move(base)};
}

namespace {

// Where a GPU may be found, and how it is spoken of.
struct GpuPlace {
  // That of the name or, where there is none or no name is given, another.
  std::function<Result<gpu::DeviceProperties>(const std::string& name)> find;
  const char* where;  // "here"
};

Result<ChosenDevice, SessionError> choose(const DeviceRequest& request, const GpuPlace& place) {
  const EvaluatorKind::Gpu use = use_of_gpu(request);
  // "gpu" is what runs on an unnamed one are for. A name that is wrong is wrong on every machine.
  const bool any = request.table.empty() && (request.name.empty() || request.name == "gpu");
  NamedDevice named;
  if (!any) {
    auto found = find_named(request);
    if (!found) return std::move(found).error();
    named = std::move(*found);
  }
  ChosenDevice& chosen = named.chosen;
  if (const std::string_view doubts = doubts_about(chosen.device); !doubts.empty())
    chosen.note = fmt::format("the numbers of the {} are {}", chosen.device.name, doubts);
  if (use == EvaluatorKind::Gpu::not_used) {
    if (!any) return std::move(chosen);
    return no_device("--evaluator " + request.evaluator +
                     " uses no GPU: name the device with --device");
  }
  const auto gpu = place.find(any ? "" : named.gpu_name);
  if (gpu.ok() && (any || gpu::is_device(*gpu, named.gpu_name))) {
    // A file knows better than the tables, which is what it is for.
    if (chosen.table.empty()) chosen.device = gpu::model_of(*gpu);
    chosen.gpu = *gpu;
    chosen.note.clear();  // times are measured
    if (chosen.device.name == "gpu") {
      chosen.note = fmt::format(
          "{} ({}) is not in the model's tables: its predictions are rough here, and only choose "
          "what to measure first",
          gpu->name, gpu->architecture);
    }
    return std::move(chosen);
  }
  const std::string why = !gpu.ok() ? gpu.error().message
                                    : fmt::format("the GPU {} is an {} ({}), not '{}'", place.where,
                                                  gpu->name, gpu->architecture, named.gpu_name);
  if (use == EvaluatorKind::Gpu::required)
    return no_device("--evaluator " + request.evaluator + ": " + why);
  if (any) {
    return no_device(fmt::format(
        "there is no GPU to measure on ({}); name the device to predict for with --device ({})",
        why, known_names()));
  }
  if (chosen.device.name.empty())
    return usage("--device: " + find_device(request.name).error().message);
  // A driver that is there but does not do is worth a word; no driver is the common case.
  if (gpu.ok() || gpu.error().code != ErrorCode::not_found) {
    chosen.note = "times are predicted, not measured: " + why +
                  (chosen.note.empty() ? "" : "; " + chosen.note);
  }
  return std::move(chosen);
}

}  // namespace

Result<ChosenDevice, SessionError> choose_device(const DeviceRequest& request,
                                                 const std::filesystem::path& worker,
                                                 const Cancellation& cancellation) {
  return choose(
      request,
      {[&](const std::string&) { return gpu::probe_gpu(worker, 0, cancellation); }, "here"});
}

Result<ChosenDevice, SessionError> choose_fleet_device(
    const DeviceRequest& request, const std::vector<gpu::DeviceProperties>& gpus) {
  const auto find = [&](const std::string& name) -> Result<gpu::DeviceProperties> {
    if (gpus.empty()) return fail(ErrorCode::not_found, "no worker of the fleet has a GPU");
    for (const gpu::DeviceProperties& one : gpus)
      if (!name.empty() && gpu::is_device(one, name)) return one;
    return gpus.front();
  };
  auto chosen = choose(request, {find, "of the fleet"});
  if (chosen) chosen->fleet_gpu = std::exchange(chosen->gpu, std::nullopt);
  return chosen;
}

}  // namespace regraph
