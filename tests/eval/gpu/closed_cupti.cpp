// CUPTI on a machine that keeps its counters from this user: NVIDIA's own library, but for one call
// that refuses (CLOSED_CALL). All else is found in what this library was linked with:
// libcupti.so.13 in the folder `real` beside it, which whoever uses it has to put there.
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>

extern "C" {
#if CLOSED_CALL == 1  // before a kernel is asked about
CUptiResult CUPTIAPI
cuptiProfilerGetCounterAvailability(CUpti_Profiler_GetCounterAvailability_Params*) {
  return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
}
#else  // only when counting is to begin
CUptiResult CUPTIAPI cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params*) {
  return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
}
#endif
}
