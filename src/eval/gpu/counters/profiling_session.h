// Reads hardware counters of kernels at the largest bench size, in a worker process that never
// times: profilers slow kernels down, and what they disturb is not to be found in a time.
#pragma once

#include "eval/gpu/counters/counter_facts.h"
#include "eval/gpu/timing/bench_memory.h"
#include "eval/gpu/timing/timing_session.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace regraph::gpu {

struct ProfilingConfig {
  GpuWorkerConfiguration worker;
  std::vector<std::string> cupti;  // see cupti_candidates
  std::uint64_t seed = 0;
  double timeout_seconds = 60.0;  // of one launch
};

// Not thread-safe.
class ProfilingSession {
 public:
  // `problem` must outlive the session. Nothing is started yet.
  ProfilingSession(const Problem& problem, ProfilingConfig config)
      : problem_(problem), config_(std::move(config)) {}

  // The counters of one cold run of all launches. A failure says why there are none; after one that
  // has to do with the machine (no CUPTI, no permission) nothing is tried again.
  [[nodiscard]] Result<CounterValues, Failure> profile(const PreparedCandidate& kernel,
                                                       CounterTier tier, const Cancellation& stop);

  // Why no counters can be read here; empty as long as they can.
  [[nodiscard]] const std::string& unavailable() const { return unavailable_; }
  [[nodiscard]] int processes() const { return processes_; }

  // That a launch must move at least, known once something was profiled.
  [[nodiscard]] RequiredWork required() const;

 private:
  [[nodiscard]] Result<void, Failure> ensure(const Cancellation& stop);

  const Problem& problem_;
  ProfilingConfig config_;
  std::unique_ptr<GpuProcess> process_;
  std::optional<BenchMemory> memory_;
  std::string unavailable_;
  int processes_ = 0;
};

}  // namespace regraph::gpu
