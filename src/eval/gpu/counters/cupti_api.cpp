#include "eval/gpu/counters/cupti_api.h"

#include "base/symbol_resolver.h"
#include "eval/gpu/counters/cupti_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <dlfcn.h>
#include <optional>

namespace regraph::gpu {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "libcupti.so.";
// The Range Profiler came with CUDA 12.6, whose CUPTI calls itself version 24.
constexpr std::uint32_t kOldestVersion = 24;

// The number behind "libcupti.so.", if it is one: toolkits add longer names that link to it.
std::optional<int> major_of(const std::string& file) {
  if (file.rfind(kPrefix, 0) != 0) return std::nullopt;
  int major = 0;
  const char* const end = file.data() + file.size();
  const auto [stop, status] = std::from_chars(file.data() + kPrefix.size(), end, major);
  if (status != std::errc{} || stop != end) return std::nullopt;
  return major;
}

// Resolves all functions; names the first that is missing.
std::string resolve(void* handle, CuptiApi& api) {
  SymbolResolver symbol(handle);
  symbol("cuptiGetVersion", api.get_version);
  symbol("cuptiGetResultString", api.get_result_string);
  symbol("cuptiDeviceGetChipName", api.device_get_chip_name);
  symbol("cuptiProfilerInitialize", api.profiler_initialize);
  symbol("cuptiProfilerDeviceSupported", api.profiler_device_supported);
  symbol("cuptiProfilerGetCounterAvailability", api.profiler_get_counter_availability);
  symbol("cuptiProfilerHostInitialize", api.host_initialize);
  symbol("cuptiProfilerHostDeinitialize", api.host_deinitialize);
  symbol("cuptiProfilerHostGetSupportedChips", api.host_get_supported_chips);
  symbol("cuptiProfilerHostGetMetricProperties", api.host_get_metric_properties);
  symbol("cuptiProfilerHostConfigAddMetrics", api.host_config_add_metrics);
  symbol("cuptiProfilerHostGetConfigImageSize", api.host_get_config_image_size);
  symbol("cuptiProfilerHostGetConfigImage", api.host_get_config_image);
  symbol("cuptiProfilerHostGetNumOfPasses", api.host_get_num_of_passes);
  symbol("cuptiProfilerHostEvaluateToGpuValues", api.host_evaluate_to_gpu_values);
  symbol("cuptiRangeProfilerEnable", api.range_enable);
  symbol("cuptiRangeProfilerDisable", api.range_disable);
  symbol("cuptiRangeProfilerGetCounterDataSize", api.range_get_counter_data_size);
  symbol("cuptiRangeProfilerCounterDataImageInitialize", api.range_counter_data_initialize);
  symbol("cuptiRangeProfilerSetConfig", api.range_set_config);
  symbol("cuptiRangeProfilerStart", api.range_start);
  symbol("cuptiRangeProfilerStop", api.range_stop);
  symbol("cuptiRangeProfilerPushRange", api.range_push);
  symbol("cuptiRangeProfilerPopRange", api.range_pop);
  symbol("cuptiRangeProfilerDecodeData", api.range_decode_data);
  symbol("cuptiRangeProfilerGetCounterDataInfo", api.range_get_counter_data_info);
  // Newer than the rest; without it the error's name must do.
  api.get_error_message =
      reinterpret_cast<decltype(api.get_error_message)>(::dlsym(handle, "cuptiGetErrorMessage"));
  return symbol.missing();
}

ErrorCode code_of(CUptiResult result) {
  switch (result) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
      return ErrorCode::permission;
    case CUPTI_ERROR_HARDWARE_BUSY:
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
      return ErrorCode::busy;
    case CUPTI_ERROR_NOT_SUPPORTED:
    case CUPTI_ERROR_NOT_COMPATIBLE:
    case CUPTI_ERROR_INVALID_CHIP_NAME:
    case CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED:
    case CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED:
      return ErrorCode::unsupported;
    case CUPTI_ERROR_OUT_OF_MEMORY:
      return ErrorCode::resource;
    case CUPTI_ERROR_INVALID_METRIC_NAME:
      return ErrorCode::not_found;
    default:
      return ErrorCode::io;
  }
}

const char* advice(ErrorCode code) {
  switch (code) {
    case ErrorCode::permission:
      return ". Reading hardware counters is closed to this user: run as root, give the program "
             "CAP_SYS_ADMIN (or CAP_PERFMON from driver 565 on), or have an administrator load the "
             "driver with NVreg_RestrictProfilingToAdminUsers=0. Without it kernels are timed, but "
             "not profiled";
    case ErrorCode::busy:
      return ". Another profiler (Nsight, DCGM) holds the counters of this GPU: stop it, or pause "
             "it with 'dcgmi profile --pause'";
    default:
      return "";
  }
}

}  // namespace

Status CuptiApi::check(CUptiResult result, const char* call) const {
  if (result == CUPTI_SUCCESS) return {};
  const char* name = nullptr;
  if (get_result_string == nullptr || get_result_string(result, &name) != CUPTI_SUCCESS)
    name = nullptr;
  const char* text = nullptr;
  if (get_error_message == nullptr || get_error_message(result, &text) != CUPTI_SUCCESS)
    text = nullptr;
  const ErrorCode code = code_of(result);
  std::string words = text == nullptr ? "" : text;
  // NVIDIA's words about missing rights are a paragraph that says less than ours.
  if (code == ErrorCode::permission) words.clear();
  while (!words.empty() && std::strchr(" \n\r\t.", words.back()) != nullptr)
    words.pop_back();
  return fail(
      code, fmt::format("{} gave {} ({}){}{}{}", call, name == nullptr ? "an error" : name,
                        static_cast<int>(result), words.empty() ? "" : ": ", words, advice(code)));
}

std::vector<fs::path> cupti_candidates(const fs::path& root) {
  std::vector<fs::path> found;
  if (!root.empty()) {
    for (const char* directory : {"extras/CUPTI/lib64", "lib64", "lib", "targets/x86_64-linux/lib",
                                  "lib/x86_64-linux-gnu"}) {
      std::vector<std::pair<int, fs::path>> here;
      std::error_code code;
      for (const auto& entry : fs::directory_iterator(root / directory, code)) {
        if (const auto major = major_of(entry.path().filename().string()))
          here.emplace_back(*major, entry.path());
      }
      std::sort(here.begin(), here.end(), std::greater<>());
      for (auto& [major, path] : here)
        found.push_back(std::move(path));
    }
  }
  found.emplace_back("libcupti.so.13");
  found.emplace_back("libcupti.so.12");
  return found;
}

Result<std::shared_ptr<const CuptiApi>> load_cupti(std::span<const fs::path> candidates) {
  std::string tried;
  ErrorCode code = ErrorCode::not_found;
  for (const fs::path& candidate : candidates) {
    const auto refuse = [&](const std::string& why) {
      tried += fmt::format("\n  {}: {}", candidate.string(), why);
    };
    void* const handle = ::dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      const char* const why = ::dlerror();
      refuse(why == nullptr ? "cannot be loaded" : why);
      continue;
    }
    const auto api = std::make_shared<CuptiApi>();
    api->library = candidate.string();
    const std::string missing = resolve(handle, *api);
    if (api->get_version != nullptr) api->get_version(&api->version);
    if (!missing.empty() || api->version < kOldestVersion) {
      code = ErrorCode::unsupported;
      refuse(missing.empty() ? fmt::format("version {} is too old", api->version)
                             : "has no " + missing + " (CUDA 12.6 or newer is needed)");
      continue;
    }
    return std::shared_ptr<const CuptiApi>(api);
  }
  return fail(code, "no usable CUPTI, so kernels are not profiled; tried:" + tried +
                        "\nIt comes with the CUDA toolkit (12.6 or newer) and with the wheel "
                        "nvidia-cuda-cupti.");
}

}  // namespace regraph::gpu
