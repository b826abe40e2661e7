// Reads hardware counters of launches with CUPTI.
#pragma once

#include "eval/gpu/counters/counter_collector.h"
#include "eval/gpu/worker/device.h"
#include "eval/gpu/worker/device_buffers.h"
#include "eval/gpu/worker/timed_runs.h"

#include <map>
#include <memory>

namespace regraph::gpu::worker {

class ProfiledRun {
 public:
  // The ordinal as CUDA counts. All must outlive it.
  ProfiledRun(const Device& device, const DeviceBuffers& buffers)
      : device_(device), buffers_(buffers) {}

  // Restores, poisons and sweeps as a cold sample does, once a pass. Throws a Failure.
  [[nodiscard]] ProfileResponse run(const ProfileRequest& request, const FindFunction& find);

 private:
  [[nodiscard]] CounterCollector& collector(const ProfileRequest& request);

  const Device& device_;
  const DeviceBuffers& buffers_;
  std::shared_ptr<const CuptiApi> api_;
  std::map<int, std::unique_ptr<CounterCollector>> collectors_;  // by tier
};

}  // namespace regraph::gpu::worker
