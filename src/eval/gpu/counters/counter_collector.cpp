#include "eval/gpu/counters/counter_collector.h"

#include "eval/gpu/counters/profiler_host.h"
#include "eval/gpu/counters/range_session.h"

#include <fmt/format.h>

#include <cmath>

namespace regraph::gpu {
namespace {

// More passes than planned mean that CUPTI never gets what it wants.
constexpr int kPassesTooMany = 4;

Status initialize_profiler(const CuptiApi& api) {
  // Never undone: other collectors of the process may rely on it, and it costs nothing by itself.
  auto p = cupti_parameters<CUpti_Profiler_Initialize_Params>(
      CUpti_Profiler_Initialize_Params_STRUCT_SIZE);
  return api.check(api.profiler_initialize(&p), "cuptiProfilerInitialize");
}

// What of the device or the machine stands against profiling.
std::string obstacles(const CUpti_Profiler_DeviceSupported_Params& p) {
  std::string text;
  const auto add = [&](CUpti_Profiler_Support_Level level, const char* what) {
    if (level == CUPTI_PROFILER_CONFIGURATION_SUPPORTED) return;
    text += fmt::format(
        "{}{}{}", text.empty() ? "" : ", ", what,
        level == CUPTI_PROFILER_CONFIGURATION_DISABLED ? " (disabled by the system)" : "");
  };
  add(p.architecture, "architecture older than Volta");
  add(p.sli, "SLI");
  add(p.vGpu, "virtual GPU");
  add(p.confidentialCompute, "confidential computing");
  add(p.cmp, "mining processor");
  add(p.wsl, "Windows Subsystem for Linux");
  return text.empty() ? "no reason given" : text;
}

Status check_supported(const CuptiApi& api, int device) {
  auto p = cupti_parameters<CUpti_Profiler_DeviceSupported_Params>(
      CUpti_Profiler_DeviceSupported_Params_STRUCT_SIZE);
  p.cuDevice = device;
  p.api = CUPTI_PROFILER_RANGE_PROFILING;
  if (Status status = api.check(api.profiler_device_supported(&p), "cuptiProfilerDeviceSupported");
      !status.ok()) {
    return status;
  }
  if (p.isSupported == CUPTI_PROFILER_CONFIGURATION_SUPPORTED) return {};
  return fail(ErrorCode::unsupported,
              fmt::format("this GPU's counters cannot be read: {}", obstacles(p)));
}

}  // namespace

Result<std::string> device_chip_name(const CuptiApi& api, int device) {
  if (Status status = initialize_profiler(api); !status.ok()) return status.error();
  auto p = cupti_parameters<CUpti_Device_GetChipName_Params>(
      CUpti_Device_GetChipName_Params_STRUCT_SIZE);
  p.deviceIndex = static_cast<std::size_t>(device);
  if (const Status status = api.check(api.device_get_chip_name(&p), "cuptiDeviceGetChipName");
      !status.ok()) {
    return status.error();
  }
  if (p.pChipName == nullptr) return fail(ErrorCode::io, "CUPTI gave no name of the chip");
  return std::string(p.pChipName);
}

Result<std::vector<std::uint8_t>> counter_availability(const CuptiApi& api, CUctx_st* context) {
  if (Status status = initialize_profiler(api); !status.ok()) return status.error();
  auto p = cupti_parameters<CUpti_Profiler_GetCounterAvailability_Params>(
      CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE);
  p.ctx = context;
  constexpr const char* kCall = "cuptiProfilerGetCounterAvailability";
  if (const Status status = api.check(api.profiler_get_counter_availability(&p), kCall);
      !status.ok()) {
    return status.error();
  }
  std::vector<std::uint8_t> image(p.counterAvailabilityImageSize);
  p.pCounterAvailabilityImage = image.data();
  if (const Status status = api.check(api.profiler_get_counter_availability(&p), kCall);
      !status.ok()) {
    return status.error();
  }
  image.resize(std::min(image.size(), p.counterAvailabilityImageSize));
  return image;
}

CounterCollector::CounterCollector(std::shared_ptr<const CuptiApi> api, CUctx_st* context,
                                   CounterPlan plan)
    : api_(std::move(api)), context_(context), plan_(std::move(plan)) {}

CounterCollector::~CounterCollector() = default;

Result<std::unique_ptr<CounterCollector>> CounterCollector::create(
    std::shared_ptr<const CuptiApi> api, int device, CUctx_st* context, CounterPlan plan) {
  if (Status status = initialize_profiler(*api); !status.ok()) return status.error();
  if (Status status = check_supported(*api, device); !status.ok()) return status.error();
  const Result<std::string> chip = device_chip_name(*api, device);
  if (!chip.ok()) return chip.error();
  if (*chip != plan.chip) {
    return fail(ErrorCode::unsupported,
                fmt::format("counters were planned for the chip {}, this is "
                            "{}",
                            plan.chip, *chip));
  }
  auto host = ProfilerHost::create(api, plan.chip, plan.availability);
  if (!host.ok()) return std::move(host).error();
  std::unique_ptr<CounterCollector> collector(
      new CounterCollector(std::move(api), context, std::move(plan)));
  collector->host_ = *std::move(host);
  return collector;
}

Result<CounterValues> CounterCollector::collect(const std::function<Status()>& replay,
                                                const std::function<Status()>& prepare) {
  auto session = RangeSession::enable(*api_, context_, plan_);
  if (!session.ok()) return std::move(session).error();
  bool finished = false;
  for (int pass = 0; !finished; ++pass) {
    if (pass >= plan_.passes + kPassesTooMany) {
      return fail(ErrorCode::io, fmt::format("CUPTI wants more than {} passes, {} were planned",
                                             pass, plan_.passes));
    }
    if (prepare) {
      if (Status status = prepare(); !status.ok()) return status.error();
    }
    if (Status status = (*session)->begin_pass(); !status.ok()) return status.error();
    const Status replayed = replay();
    const Result<bool> ended = (*session)->end_pass();
    if (!replayed.ok()) return replayed.error();
    if (!ended.ok()) return ended.error();
    finished = *ended;
  }
  const auto counter_data = (*session)->decode();
  if (!counter_data.ok()) return counter_data.error();
  const auto values = host_->evaluate(*counter_data, plan_.metrics);
  if (!values.ok()) return values.error();
  CounterValues named;
  for (std::size_t i = 0; i < plan_.metrics.size(); ++i) {
    if (std::isfinite((*values)[i])) named[plan_.metrics[i]] = (*values)[i];
  }
  return named;
}

}  // namespace regraph::gpu
