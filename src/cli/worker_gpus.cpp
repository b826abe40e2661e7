#include "cli/worker_gpus.h"

#include "eval/gpu/protocol/gpu_process.h"

#include <charconv>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace regraph::cli {
namespace {

constexpr std::string_view kVisible = "CUDA_VISIBLE_DEVICES";

std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t comma = text.find(',');
    parts.emplace_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

Result<std::vector<int>, SessionError> ordinals_of(const std::string& wanted) {
  std::vector<int> ordinals;
  for (const std::string& part : parts_of(wanted)) {
    int ordinal = -1;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), ordinal);
    if (error != std::errc() || end != part.data() + part.size() || ordinal < 0)
      return usage("--gpu is all, none, or numbers of GPUs such as 0,2, and not '" + wanted + "'");
    ordinals.push_back(ordinal);
  }
  return ordinals;
}

// As CUDA is to be told of it: those that this process was shown may be named otherwise.
std::string visible_name(int device) {
  const char* const shown = std::getenv(kVisible.data());
  if (shown == nullptr) return std::to_string(device);
  const std::vector<std::string> names = parts_of(shown);
  const auto index = static_cast<std::size_t>(device);
  return index < names.size() ? names[index] : std::to_string(device);
}

}  // namespace

Result<std::vector<WorkerGpu>, SessionError> find_worker_gpus(const std::string& wanted,
                                                              const Installation& installation,
                                                              const Cancellation& cancellation) {
  std::vector<WorkerGpu> gpus;
  if (wanted == "none") return gpus;
  if (wanted != "all") {
    const auto ordinals = ordinals_of(wanted);
    if (!ordinals) return ordinals.error();
    for (const int device : *ordinals) {
      auto properties = gpu::probe_gpu(installation.gpu_worker(), device, cancellation);
      if (!properties) {
        return SessionError{FailureCause::no_device, "--gpu " + wanted + ": GPU " +
                                                         std::to_string(device) + ": " +
                                                         properties.error().message};
      }
      gpus.push_back({device, *std::move(properties)});
    }
    return gpus;
  }
  int count = 1;
  for (int device = 0; device < count; ++device) {
    auto properties = gpu::probe_gpu(installation.gpu_worker(), device, cancellation);
    if (!properties) continue;
    count = properties->device_count;
    gpus.push_back({device, *std::move(properties)});
  }
  return gpus;
}

std::vector<std::string> environment_for_gpu(const WorkerGpu& gpu,
                                             std::vector<std::string> environment) {
  const std::string prefix = std::string(kVisible) + "=";
  std::erase_if(environment, [&](const std::string& one) { return one.starts_with(prefix); });
  environment.push_back(prefix + visible_name(gpu.device));
  return environment;
}

}  // namespace regraph::cli
