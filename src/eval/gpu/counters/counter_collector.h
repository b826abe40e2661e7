// Reads hardware counters of kernels in this process with CUPTI's range profiler. For the worker
// process that owns the CUDA context; never time while it collects.
#pragma once

#include "base/result.h"
#include "eval/gpu/counters/counter_plan.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

struct CUctx_st;  // CUcontext is a pointer to it

namespace regraph::gpu {

struct CuptiApi;
class ProfilerHost;

// CUPTI's metric name -> value. A metric that is undefined for the run (a hit rate without
// accesses) is absent.
using CounterValues = std::map<std::string, double, std::less<>>;

// CUPTI's name of the chip, e.g. "GH100" for an H200. `device` is the CUDA ordinal. Needs a driver.
[[nodiscard]] Result<std::string> device_chip_name(const CuptiApi& api, int device);

// The device's counter availability image for plan_counters. Must not be called while a collector
// collects. Error: permission, busy, unsupported.
[[nodiscard]] Result<std::vector<std::uint8_t>> counter_availability(const CuptiApi& api,
                                                                     CUctx_st* context);

// Not thread-safe; call from the thread to which `context` is current.
class CounterCollector {
 public:
  // `device` is a CUdevice, `context` a CUcontext of it; both must outlive the collector. Errors:
  // permission and busy (see CuptiApi::check), unsupported (the device cannot be profiled: virtual
  // GPU, confidential computing, ...; or it is not the chip of the plan).
  static Result<std::unique_ptr<CounterCollector>> create(std::shared_ptr<const CuptiApi> api,
                                                          int device, CUctx_st* context,
                                                          CounterPlan plan);
  ~CounterCollector();
  CounterCollector(const CounterCollector&) = delete;
  CounterCollector& operator=(const CounterCollector&) = delete;

  // Runs `prepare` (if set) and then `replay` once a pass and returns the plan's metrics over
  // `replay` alone. `replay` must launch the kernel on `context`, wait until it is done, and do the
  // same work every time; `prepare` restores inputs and flushes caches, and must wait too. The
  // profiler is enabled for this call only. Errors: what replay or prepare gave; permission; busy
  // (another profiler, or another collector of this process); io.
  [[nodiscard]] Result<CounterValues> collect(const std::function<Status()>& replay,
                                              const std::function<Status()>& prepare = {});

  [[nodiscard]] const CounterPlan& plan() const { return plan_; }

 private:
  CounterCollector(std::shared_ptr<const CuptiApi> api, CUctx_st* context, CounterPlan plan);

  std::shared_ptr<const CuptiApi> api_;
  CUctx_st* context_;
  CounterPlan plan_;
  std::unique_ptr<ProfilerHost> host_;
};

}  // namespace regraph::gpu
