#include "eval/gpu/timing/final_measurement.h"

#include "base/random.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace regraph::gpu {
namespace {

// Neighbours share a clock: samples are drawn in runs of the race's block.
MeasuredSpeedup::Times times_of(const TimingSession::Pair& pooled, std::uint64_t seed,
                                int block_size) {
  MeasuredSpeedup::Times times;
  times.original_seconds = median(pooled.original);
  times.best_seconds = median(pooled.kernel);
  times.samples = static_cast<int>(pooled.kernel.size());
  BootstrapConfig bootstrap;
  bootstrap.seed = seed;
  // A handful of samples in one run would be drawn whole.
  bootstrap.block_length = std::clamp(times.samples / 10, 1, block_size);
  const Interval interval = bootstrap_median_ratio(pooled.original, pooled.kernel, bootstrap);
  times.speedup = {times.original_seconds / times.best_seconds, interval.low, interval.high};
  return times;
}

SpeedupEstimate geometric_mean(const MeasuredSpeedup& measured,
                               MeasuredSpeedup::Times MeasuredSpeedup::Bench::*of) {
  double ratio = 0.0;
  double low = 0.0;
  double high = 0.0;
  for (const MeasuredSpeedup::Bench& bench : measured.benches) {
    const SpeedupEstimate& one = (bench.*of).speedup;
    ratio += std::log(one.ratio);
    low += std::log(one.low);
    high += std::log(one.high);
  }
  const auto count = static_cast<double>(std::max<std::size_t>(measured.benches.size(), 1));
  return {std::exp(ratio / count), std::exp(low / count), std::exp(high / count)};
}

void append(std::vector<double>& all, const std::vector<double>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

}  // namespace

Result<MeasuredSpeedup, Failure> measure_finally(
    const Problem& problem, const std::shared_ptr<const PreparedCandidate>& original,
    const std::shared_ptr<const PreparedCandidate>& best, const TimingConfig& timing,
    const FinalMeasurementConfig& config, const Cancellation& stop) {
  // [bench size]
  std::vector<TimingSession::Pair> cold(problem.bench.size());
  std::vector<TimingSession::Pair> hot(problem.bench.size());
  MeasuredSpeedup measured;
  for (int process = 0; process < config.processes; ++process) {
    TimingConfig fresh = timing;
    fresh.seed = random_bits(timing.seed, 41, process);
    TimingSession session(problem, original, fresh);
    for (const bool is_cold : {true, false}) {
      auto pairs =
          session.compare_with_original(best, {config.samples, config.gpu_seconds, is_cold}, stop);
      if (!pairs.ok()) return pairs.error();
      for (std::size_t b = 0; b < pairs->size(); ++b) {
        if (const std::string& wrong = (*pairs)[b].difference; !wrong.empty())
          return Failure{0, false, false, "wrong result: " + wrong};
        TimingSession::Pair& all = (is_cold ? cold : hot)[b];
        append(all.kernel, (*pairs)[b].kernel);
        append(all.original, (*pairs)[b].original);
      }
    }
    ++measured.processes;
  }
  for (std::size_t b = 0; b < problem.bench.size(); ++b) {
    measured.benches.push_back(
        {problem.bench[b],
         times_of(cold[b], random_bits(timing.seed, 43, b), timing.race.block_size),
         times_of(hot[b], random_bits(timing.seed, 47, b), timing.race.block_size)});
  }
  measured.cold = geometric_mean(measured, &MeasuredSpeedup::Bench::cold);
  measured.hot = geometric_mean(measured, &MeasuredSpeedup::Bench::hot);
  return measured;
}

}  // namespace regraph::gpu
