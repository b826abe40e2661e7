#include "eval/gpu/timing/timing_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace regraph::gpu {
namespace {

// Share of the shorter of two intervals that lies in the other. An interval of no length overlaps
// wholly when it lies inside.
double overlap(const TimingSummary& a, const TimingSummary& b) {
  const double low = std::max(a.minimum, b.minimum);
  const double high = std::min(a.third_quartile, b.third_quartile);
  if (high < low) return 0.0;
  const double shorter = std::min(a.third_quartile - a.minimum, b.third_quartile - b.minimum);
  return shorter > 0.0 ? (high - low) / shorter : 1.0;
}

// The finer tick of the two that is known: samples of one side may lie several ticks apart.
std::optional<double> common_tick(const TimingSummary& a, const TimingSummary& b) {
  if (a.tick > 0.0 && b.tick > 0.0) return std::min(a.tick, b.tick);
  if (a.tick > 0.0 || b.tick > 0.0) return std::max(a.tick, b.tick);
  return std::nullopt;
}

TimingVerdict with(TimingVerdict verdict, SpeedVerdict word, std::string reason) {
  verdict.word = word;
  verdict.reason = std::move(reason);
  return verdict;
}

std::vector<double> cycles_of(const TimedSamples& samples) {
  std::vector<double> cycles(samples.seconds.size());
  for (std::size_t i = 0; i < cycles.size(); ++i)
    cycles[i] = samples.seconds[i] * samples.clock_hertz[i];
  return cycles;
}

bool has_clocks(const TimedSamples& samples) {
  return samples.clock_hertz.size() == samples.seconds.size() &&
         std::all_of(samples.clock_hertz.begin(), samples.clock_hertz.end(),
                     [](double hertz) { return std::isfinite(hertz) && hertz > 0.0; });
}

}  // namespace

TimingVerdict judge_summaries(const TimingSummary& candidate, const TimingSummary& incumbent,
                              double noise, std::optional<double> relative_tick) {
  TimingVerdict verdict;
  verdict.candidate = candidate;
  verdict.incumbent = incumbent;
  if (candidate.count < 2 || incumbent.count < 2 || !(candidate.minimum > 0.0) ||
      !(incumbent.minimum > 0.0)) {
    return with(std::move(verdict), SpeedVerdict::ambiguous, "too few samples");
  }
  verdict.speedup = incumbent.median / candidate.median;
  const bool lower = candidate.median < incumbent.median;
  const TimingSummary& fast = lower ? candidate : incumbent;
  const TimingSummary& slow = lower ? incumbent : candidate;
  verdict.separation = (slow.minimum - fast.third_quartile) / fast.third_quartile;

  std::optional<double> tick = relative_tick;
  if (!tick) {
    if (const std::optional<double> shown = common_tick(candidate, incumbent))
      tick = *shown / slow.median;
  }
  const double gain = 1.0 - fast.median / slow.median;
  if (!tick && gain > 0.0) {
    return with(std::move(verdict), SpeedVerdict::ambiguous,
                "all samples of each side are equal, so the timer's tick is not known");
  }
  verdict.required_gain = std::max(kSmallestGain, kNoiseFactor * noise) + tick.value_or(0.0);
  if (verdict.separation >= kIntervalSeparation && gain >= verdict.required_gain) {
    const SpeedVerdict word = lower ? SpeedVerdict::fast : SpeedVerdict::slow;
    std::string reason = fmt::format("medians differ by {:.2f} %, intervals by {:.2f} %",
                                     100.0 * gain, 100.0 * verdict.separation);
    return with(std::move(verdict), word, std::move(reason));
  }
  if (gain <= kSameMedians && overlap(candidate, incumbent) >= kSameOverlap &&
      std::max(candidate.robust_variation, incumbent.robust_variation) <= kSameVariation) {
    return with(std::move(verdict), SpeedVerdict::same, "medians and intervals agree");
  }
  std::string reason =
      verdict.separation < kIntervalSeparation
          ? fmt::format("the intervals overlap or nearly touch ({:.2f} % apart)",
                        100.0 * verdict.separation)
          : fmt::format("medians differ by {:.2f} %, less than the {:.2f} % that noise allows",
                        100.0 * gain, 100.0 * verdict.required_gain);
  return with(std::move(verdict), SpeedVerdict::ambiguous, std::move(reason));
}

TimingVerdict judge(const TimedSamples& candidate, const TimedSamples& incumbent, double noise) {
  TimingVerdict verdict = judge_summaries(summarize(candidate.seconds, kTimerUnitSeconds),
                                          summarize(incumbent.seconds, kTimerUnitSeconds), noise);
  if (verdict.word == SpeedVerdict::ambiguous || !has_clocks(candidate) || !has_clocks(incumbent))
    return verdict;
  // Clocks blur the grid of the seconds, so that the tick cannot be read off the cycles.
  const double relative_tick = common_tick(verdict.candidate, verdict.incumbent).value_or(0.0) /
                               std::max(verdict.candidate.median, verdict.incumbent.median);
  const TimingVerdict cycles = judge_summaries(
      summarize(cycles_of(candidate)), summarize(cycles_of(incumbent)), noise, relative_tick);
  if (cycles.word != verdict.word) {
    verdict.reason = fmt::format("{} in seconds, {} in clock cycles ({})", name(verdict.word),
                                 name(cycles.word), cycles.reason);
    verdict.word = SpeedVerdict::ambiguous;
  }
  return verdict;
}

double aa_noise(std::span<const double> first_medians, std::span<const double> second_medians) {
  const std::size_t trials = std::min(first_medians.size(), second_medians.size());
  double largest = 0.0;
  for (std::size_t i = 0; i < trials; ++i)
    largest = std::max(largest, std::abs(std::log(first_medians[i] / second_medians[i])));
  return largest;
}

}  // namespace regraph::gpu
