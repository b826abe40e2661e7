// Times the answer of a search for the record: original and best kernel interleaved, cold and hot,
// in fresh processes, so that no process's memory layout or clock decides.
#pragma once

#include "eval/gpu/timing/timing_session.h"
#include "kernel/measured_speedup.h"

#include <memory>

namespace regraph::gpu {

struct FinalMeasurementConfig {
  int processes = 3;
  int samples = 200;         // of each kernel, bench size and process; long kernels get fewer
  double gpu_seconds = 0.6;  // of each bench size and process, cold; hot takes as long again
};

// Intervals are bootstrapped over all processes' samples, drawn in runs of neighbours
// (bootstrap_median_ratio). Those of the geometric means average the sizes' bounds in the
// logarithm, which is wider than independent errors would make them. A failure as
// TimingSession::compare_with_original; outputs that differ are one, too, that is not final.
[[nodiscard]] Result<MeasuredSpeedup, Failure> measure_finally(
    const Problem& problem, const std::shared_ptr<const PreparedCandidate>& original,
    const std::shared_ptr<const PreparedCandidate>& best, const TimingConfig& timing,
    const FinalMeasurementConfig& config, const Cancellation& stop);

}  // namespace regraph::gpu
