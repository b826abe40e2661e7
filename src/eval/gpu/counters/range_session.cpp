#include "eval/gpu/counters/range_session.h"

#include <fmt/format.h>

namespace regraph::gpu {
namespace {

constexpr const char* kRangeName = "kernel";

}  // namespace

Result<std::unique_ptr<RangeSession>> RangeSession::enable(const CuptiApi& api, CUcontext context,
                                                           const CounterPlan& plan) {
  if (api.session.test_and_set())
    return fail(ErrorCode::busy, "this process collects counters already: one session at a time");
  std::unique_ptr<RangeSession> session(new RangeSession(api));  // clears the flag
  auto p = cupti_parameters<CUpti_RangeProfiler_Enable_Params>(
      CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE);
  p.ctx = context;
  if (const Status status = api.check(api.range_enable(&p), "cuptiRangeProfilerEnable");
      !status.ok()) {
    return status.error();
  }
  session->object_ = p.pRangeProfilerObject;
  if (const Status status = session->configure(plan); !status.ok()) return status.error();
  return session;
}

RangeSession::~RangeSession() {
  if (object_ != nullptr) {
    auto p = cupti_parameters<CUpti_RangeProfiler_Disable_Params>(
        CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE);
    p.pRangeProfilerObject = object_;
    api_.range_disable(&p);
  }
  api_.session.clear();
}

Status RangeSession::configure(const CounterPlan& plan) {
  configuration_ = plan.configuration;
  std::vector<const char*> names;
  for (const std::string& metric : plan.metrics)
    names.push_back(metric.c_str());
  auto size = cupti_parameters<CUpti_RangeProfiler_GetCounterDataSize_Params>(
      CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE);
  size.pRangeProfilerObject = object_;
  size.pMetricNames = names.data();
  size.numMetrics = names.size();
  size.maxNumOfRanges = 1;
  size.maxNumRangeTreeNodes = 1;
  if (const Status status = api_.check(api_.range_get_counter_data_size(&size),
                                       "cuptiRangeProfilerGetCounterDataSize");
      !status.ok()) {
    return status;
  }
  counter_data_.resize(size.counterDataSize);
  auto initialize = cupti_parameters<CUpti_RangeProfiler_CounterDataImage_Initialize_Params>(
      CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE);
  initialize.pRangeProfilerObject = object_;
  initialize.counterDataSize = counter_data_.size();
  initialize.pCounterData = counter_data_.data();
  if (const Status status = api_.check(api_.range_counter_data_initialize(&initialize),
                                       "cuptiRangeProfilerCounterDataImageInitialize");
      !status.ok()) {
    return status;
  }
  auto set = cupti_parameters<CUpti_RangeProfiler_SetConfig_Params>(
      CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE);
  set.pRangeProfilerObject = object_;
  set.configSize = configuration_.size();
  set.pConfig = configuration_.data();
  set.counterDataImageSize = counter_data_.size();
  set.pCounterDataImage = counter_data_.data();
  set.range = CUPTI_UserRange;
  set.replayMode = CUPTI_UserReplay;
  set.maxRangesPerPass = 1;
  set.numNestingLevels = 1;
  set.minNestingLevel = 1;
  set.passIndex = 0;
  set.targetNestingLevel = 1;
  return api_.check(api_.range_set_config(&set), "cuptiRangeProfilerSetConfig");
}

Status RangeSession::begin_pass() {
  auto start = cupti_parameters<CUpti_RangeProfiler_Start_Params>(
      CUpti_RangeProfiler_Start_Params_STRUCT_SIZE);
  start.pRangeProfilerObject = object_;
  if (const Status status = api_.check(api_.range_start(&start), "cuptiRangeProfilerStart");
      !status.ok()) {
    return status;
  }
  auto push = cupti_parameters<CUpti_RangeProfiler_PushRange_Params>(
      CUpti_RangeProfiler_PushRange_Params_STRUCT_SIZE);
  push.pRangeProfilerObject = object_;
  push.pRangeName = kRangeName;
  return api_.check(api_.range_push(&push), "cuptiRangeProfilerPushRange");
}

Result<bool> RangeSession::end_pass() {
  auto pop = cupti_parameters<CUpti_RangeProfiler_PopRange_Params>(
      CUpti_RangeProfiler_PopRange_Params_STRUCT_SIZE);
  pop.pRangeProfilerObject = object_;
  const Status popped = api_.check(api_.range_pop(&pop), "cuptiRangeProfilerPopRange");
  auto stop = cupti_parameters<CUpti_RangeProfiler_Stop_Params>(
      CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE);
  stop.pRangeProfilerObject = object_;
  const Status stopped = api_.check(api_.range_stop(&stop), "cuptiRangeProfilerStop");
  if (!popped.ok()) return popped.error();
  if (!stopped.ok()) return stopped.error();
  return stop.isAllPassSubmitted != 0;
}

Result<std::vector<std::uint8_t>> RangeSession::decode() {
  auto decode = cupti_parameters<CUpti_RangeProfiler_DecodeData_Params>(
      CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE);
  decode.pRangeProfilerObject = object_;
  if (const Status status =
          api_.check(api_.range_decode_data(&decode), "cuptiRangeProfilerDecodeData");
      !status.ok()) {
    return status.error();
  }
  auto info = cupti_parameters<CUpti_RangeProfiler_GetCounterDataInfo_Params>(
      CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE);
  info.pCounterDataImage = counter_data_.data();
  info.counterDataImageSize = counter_data_.size();
  if (const Status status = api_.check(api_.range_get_counter_data_info(&info),
                                       "cuptiRangeProfilerGetCounterDataInfo");
      !status.ok()) {
    return status.error();
  }
  if (decode.numOfRangeDropped != 0 || info.numTotalRanges != 1) {
    return fail(ErrorCode::io,
                fmt::format("CUPTI recorded {} ranges and dropped {}, 1 was measured",
                            info.numTotalRanges, decode.numOfRangeDropped));
  }
  return counter_data_;
}

}  // namespace regraph::gpu
