#include "eval/gpu/counters/profiler_host.h"

#include <fmt/format.h>

namespace regraph::gpu {
namespace {

std::vector<const char*> pointers_to(std::span<const std::string> names) {
  std::vector<const char*> pointers;
  pointers.reserve(names.size());
  for (const std::string& name : names)
    pointers.push_back(name.c_str());
  return pointers;
}

}  // namespace

Result<std::unique_ptr<ProfilerHost>> ProfilerHost::create(
    std::shared_ptr<const CuptiApi> api, std::string_view chip,
    std::span<const std::uint8_t> availability) {
  std::unique_ptr<ProfilerHost> host(
      new ProfilerHost(std::move(api), std::string(chip), availability));
  auto p = cupti_parameters<CUpti_Profiler_Host_Initialize_Params>(
      CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE);
  p.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  p.pChipName = host->chip_.c_str();
  p.pCounterAvailabilityImage = host->availability_.empty() ? nullptr : host->availability_.data();
  const Status status =
      host->api_->check(host->api_->host_initialize(&p), "cuptiProfilerHostInitialize");
  if (!status.ok()) {
    return fail(ErrorCode::unsupported, fmt::format("CUPTI knows no counters of the chip '{}': {}",
                                                    chip, status.error().message));
  }
  host->object_ = p.pHostObject;
  return host;
}

ProfilerHost::~ProfilerHost() {
  if (object_ == nullptr) return;
  auto p = cupti_parameters<CUpti_Profiler_Host_Deinitialize_Params>(
      CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE);
  p.pHostObject = object_;
  api_->host_deinitialize(&p);
}

bool ProfilerHost::knows(const std::string& metric) const {
  auto p = cupti_parameters<CUpti_Profiler_Host_GetMetricProperties_Params>(
      CUpti_Profiler_Host_GetMetricProperties_Params_STRUCT_SIZE);
  p.pHostObject = object_;
  p.pMetricName = metric.c_str();
  return !metric.empty() && api_->host_get_metric_properties(&p) == CUPTI_SUCCESS;
}

Result<std::vector<std::uint8_t>> ProfilerHost::configure(
    std::span<const std::string> metrics) const {
  std::vector<const char*> names = pointers_to(metrics);
  auto add = cupti_parameters<CUpti_Profiler_Host_ConfigAddMetrics_Params>(
      CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE);
  add.pHostObject = object_;
  add.ppMetricNames = names.data();
  add.numMetrics = names.size();
  if (const Status status =
          api_->check(api_->host_config_add_metrics(&add), "cuptiProfilerHostConfigAddMetrics");
      !status.ok()) {
    return status.error();
  }
  auto size = cupti_parameters<CUpti_Profiler_Host_GetConfigImageSize_Params>(
      CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE);
  size.pHostObject = object_;
  if (const Status status = api_->check(api_->host_get_config_image_size(&size),
                                        "cuptiProfilerHostGetConfigImageSize");
      !status.ok()) {
    return status.error();
  }
  std::vector<std::uint8_t> image(size.configImageSize);
  auto get = cupti_parameters<CUpti_Profiler_Host_GetConfigImage_Params>(
      CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE);
  get.pHostObject = object_;
  get.configImageSize = image.size();
  get.pConfigImage = image.data();
  if (const Status status =
          api_->check(api_->host_get_config_image(&get), "cuptiProfilerHostGetConfigImage");
      !status.ok()) {
    return status.error();
  }
  return image;
}

Result<int> ProfilerHost::passes(std::span<const std::uint8_t> configuration) const {
  auto p = cupti_parameters<CUpti_Profiler_Host_GetNumOfPasses_Params>(
      CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE);
  p.configImageSize = configuration.size();
  p.pConfigImage = const_cast<std::uint8_t*>(configuration.data());  // only read
  if (const Status status =
          api_->check(api_->host_get_num_of_passes(&p), "cuptiProfilerHostGetNumOfPasses");
      !status.ok()) {
    return status.error();
  }
  return static_cast<int>(p.numOfPasses);
}

Result<std::vector<double>> ProfilerHost::evaluate(std::span<const std::uint8_t> counter_data,
                                                   std::span<const std::string> metrics) const {
  std::vector<const char*> names = pointers_to(metrics);
  std::vector<double> values(metrics.size());
  auto p = cupti_parameters<CUpti_Profiler_Host_EvaluateToGpuValues_Params>(
      CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE);
  p.pHostObject = object_;
  p.pCounterDataImage = counter_data.data();
  p.counterDataImageSize = counter_data.size();
  p.rangeIndex = 0;
  p.ppMetricNames = names.data();
  p.numMetrics = names.size();
  p.pMetricValues = values.data();
  if (const Status status = api_->check(api_->host_evaluate_to_gpu_values(&p),
                                        "cuptiProfilerHostEvaluateToGpuValues");
      !status.ok()) {
    return status.error();
  }
  return values;
}

}  // namespace regraph::gpu
