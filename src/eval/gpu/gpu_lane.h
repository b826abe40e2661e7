// One GPU of a search: candidates are judged on it one after the other.
//
//   probation (guard pages, test sizes) -> race against the best -> outputs of timed launches
//     -> counters of the original and of each new best
#pragma once

#include "eval/evaluator.h"
#include "eval/gpu/answer_sanitizer.h"
#include "eval/gpu/counters/profiling_session.h"
#include "eval/gpu/gpu_statistics.h"
#include "eval/gpu/probation.h"
#include "eval/gpu/timing/final_measurement.h"
#include "eval/gpu/timing/measured_best.h"
#include "eval/gpu/timing/timing_session.h"
#include "eval/model/device.h"
#include "eval/verify/double_shadow.h"
#include "eval/verify/verifier.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace regraph::gpu {

struct GpuLaneConfig {
  GpuWorkerConfiguration worker;
  DeviceSpec model;                // of the GPU
  std::vector<std::string> cupti;  // files that may be CUPTI, best first; empty: no counters
  std::uint64_t seed = 0;
  // As in TimingConfig; may be empty.
  std::function<Result<verify::DoubleShadow>(const Cancellation&)> make_double_shadow;
};

// Not thread-safe, but lanes of different GPUs may be used at the same time.
class GpuLane {
 public:
  // The references must outlive the lane; verifier, best and log may be shared between lanes.
  // Nothing is started yet.
  GpuLane(const Problem& problem, Verifier& verifier,
          std::shared_ptr<const PreparedCandidate> original, MeasuredBest& best,
          GpuStatisticsLog& log, GpuLaneConfig config);

  // Replaces verdict, time and facts of `result`, which holds the model's, by the GPU's. A machine
  // that fails gives Verdict::unsupported with what went wrong. Returns whether what it left at the
  // bench sizes was compared with the original's, as it is unless it was far too slow to matter.
  [[nodiscard]] bool judge(const std::shared_ptr<const PreparedCandidate>& kernel,
                           const EvaluationBudget& budget, Evaluation& result,
                           const Cancellation& stop);

  // The answer of a search beside the original, in fresh processes. What the lane held on the GPU
  // is given back before.
  [[nodiscard]] Result<MeasuredSpeedup, Failure> measure_answer(
      const std::shared_ptr<const PreparedCandidate>& best, const Cancellation& stop);

  // As sanitize_answer, on this GPU.
  [[nodiscard]] SanitizerReport sanitize(const SanitizerConfig& config,
                                         const PreparedCandidate& best,
                                         const Cancellation& stop) const {
    return sanitize_answer(config, config_.worker, problem_, *original_, best, config_.seed, stop);
  }

  [[nodiscard]] int processes() const;
  [[nodiscard]] SessionHealth health() const;
  // The original's median, geometric mean over the bench sizes; 0 before anything was judged.
  [[nodiscard]] double original_seconds() const;

 private:
  void judge_in_turn(const std::shared_ptr<const PreparedCandidate>& kernel,
                     const EvaluationBudget& budget, Evaluation& result, const Cancellation& stop);
  [[nodiscard]] std::optional<std::string> set_up(std::uint64_t seed, const Cancellation& stop);
  [[nodiscard]] Result<TimingConfig> timing_config(std::uint64_t seed, const Cancellation& stop);
  void follow_best(const Cancellation& stop);
  bool pass_probation(const PreparedCandidate& kernel, const EvaluationBudget& budget,
                      Evaluation& result, const Cancellation& stop);
  bool race(const std::shared_ptr<const PreparedCandidate>& kernel, Evaluation& result,
            const Cancellation& stop);
  void confirm(const std::shared_ptr<const PreparedCandidate>& kernel, int samples,
               Evaluation& result, const Cancellation& stop);
  void profile(const std::shared_ptr<const PreparedCandidate>& kernel, Evaluation& result,
               const Cancellation& stop);
  void accept(const std::vector<TimingSummary>& benches, Evaluation& result) const;
  void reject(const std::shared_ptr<const PreparedCandidate>& kernel, std::string why,
              Evaluation& result);
  void blame(const Failure& failure, Evaluation& result);

  const Problem& problem_;
  Verifier& verifier_;
  const std::shared_ptr<const PreparedCandidate> original_;
  MeasuredBest& best_;
  GpuStatisticsLog& log_;
  const GpuLaneConfig config_;
  std::unique_ptr<Probation> probation_;
  std::unique_ptr<TimingSession> session_;
  std::unique_ptr<ProfilingSession> profiling_;
  std::optional<TimingReport> baseline_;            // the original's times on this GPU
  std::optional<CounterValues> original_counters_;  // on this GPU
  bool compared_ = false;  // the outputs of the kernel that is being judged, at all bench sizes
  std::shared_ptr<const PreparedCandidate> followed_;  // the last best that was raced here
  int earlier_processes_ = 0;                          // of sessions that are gone
};

}  // namespace regraph::gpu
