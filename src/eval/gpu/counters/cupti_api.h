// NVIDIA's CUPTI, loaded at run time: a table of its functions, errors as values. Includes CUPTI's
// headers (types only); include it in .cpp files, and forward-declare CuptiApi elsewhere.
#pragma once

#include "base/result.h"

#include <atomic>
#include <cstdint>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <cupti_version.h>
#include <string>

namespace regraph::gpu {

// What is used of CUPTI: the Range Profiler collects, the Profiler Host API plans and evaluates.
// Thread-safe as far as CUPTI is. Never unloaded: CUPTI leaves hooks in the driver.
struct CuptiApi {
  std::string library;        // the path or soname that was loaded
  std::uint32_t version = 0;  // cuptiGetVersion(): 130001 for CUDA 13.0 Update 1

  decltype(&::cuptiGetVersion) get_version = nullptr;
  decltype(&::cuptiGetResultString) get_result_string = nullptr;
  decltype(&::cuptiGetErrorMessage) get_error_message = nullptr;  // may be null
  decltype(&::cuptiDeviceGetChipName) device_get_chip_name = nullptr;

  decltype(&::cuptiProfilerInitialize) profiler_initialize = nullptr;
  decltype(&::cuptiProfilerDeviceSupported) profiler_device_supported = nullptr;
  decltype(&::cuptiProfilerGetCounterAvailability) profiler_get_counter_availability = nullptr;

  decltype(&::cuptiProfilerHostInitialize) host_initialize = nullptr;
  decltype(&::cuptiProfilerHostDeinitialize) host_deinitialize = nullptr;
  decltype(&::cuptiProfilerHostGetSupportedChips) host_get_supported_chips = nullptr;
  decltype(&::cuptiProfilerHostGetMetricProperties) host_get_metric_properties = nullptr;
  decltype(&::cuptiProfilerHostConfigAddMetrics) host_config_add_metrics = nullptr;
  decltype(&::cuptiProfilerHostGetConfigImageSize) host_get_config_image_size = nullptr;
  decltype(&::cuptiProfilerHostGetConfigImage) host_get_config_image = nullptr;
  decltype(&::cuptiProfilerHostGetNumOfPasses) host_get_num_of_passes = nullptr;
  decltype(&::cuptiProfilerHostEvaluateToGpuValues) host_evaluate_to_gpu_values = nullptr;

  decltype(&::cuptiRangeProfilerEnable) range_enable = nullptr;
  decltype(&::cuptiRangeProfilerDisable) range_disable = nullptr;
  decltype(&::cuptiRangeProfilerGetCounterDataSize) range_get_counter_data_size = nullptr;
  decltype(&::cuptiRangeProfilerCounterDataImageInitialize) range_counter_data_initialize = nullptr;
  decltype(&::cuptiRangeProfilerSetConfig) range_set_config = nullptr;
  decltype(&::cuptiRangeProfilerStart) range_start = nullptr;
  decltype(&::cuptiRangeProfilerStop) range_stop = nullptr;
  decltype(&::cuptiRangeProfilerPushRange) range_push = nullptr;
  decltype(&::cuptiRangeProfilerPopRange) range_pop = nullptr;
  decltype(&::cuptiRangeProfilerDecodeData) range_decode_data = nullptr;
  decltype(&::cuptiRangeProfilerGetCounterDataInfo) range_get_counter_data_info = nullptr;

  // Held while a range profiler is enabled: CUPTI knows one session a process.
  mutable std::atomic_flag session;

  // Success, or the error for `result` of `call`. Codes: permission (counters are closed to this
  // user; the message says how to open them), busy (another profiler holds them), unsupported
  // (virtual GPU, confidential computing, ...), resource, io.
  [[nodiscard]] Status check(CUptiResult result, const char* call) const;
};

// A zeroed parameter block with its size set, as every CUPTI call here wants it:
// `auto p = cupti_parameters<X_Params>(X_Params_STRUCT_SIZE)`.
template <typename Parameters>
[[nodiscard]] Parameters cupti_parameters(std::size_t struct_size) {
  Parameters parameters = {};
  parameters.structSize = struct_size;
  return parameters;
}

}  // namespace regraph::gpu
