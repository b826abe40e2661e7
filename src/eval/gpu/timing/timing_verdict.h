// Whether a candidate's samples show that it is faster than the incumbent's. Pure.
#pragma once

#include "eval/gpu/timing/timing_statistics.h"
#include "kernel/speed_verdict.h"

#include <optional>
#include <span>
#include <string>

namespace regraph::gpu {

// The interval of a set of samples is [minimum, third quartile]: noise only ever adds time, so the
// lower end is solid and the upper quarter is not.
inline constexpr double kIntervalSeparation = 0.005;  // gap for FAST and SLOW, of the lower time
inline constexpr double kSmallestGain = 0.01;         // of the median, for FAST and SLOW
inline constexpr double kNoiseFactor = 3.0;           // gain over A/A noise, for FAST and SLOW
inline constexpr double kSameMedians = 0.005;         // medians this close may be SAME
inline constexpr double kSameOverlap = 0.5;           // of the shorter interval, for SAME
inline constexpr double kSameVariation = 0.02;        // largest robust variation for SAME
// The unit of the GPU's global timer: event times closer than this differ by rounding only.
inline constexpr double kTimerUnitSeconds = 1e-9;

// One side of a comparison. `clock_hertz` holds the SM clock during each sample, or is empty when
// it was not measured.
struct TimedSamples {
  std::span<const double> seconds;
  std::span<const double> clock_hertz;
};

struct TimingVerdict {
  SpeedVerdict word = SpeedVerdict::ambiguous;
  double speedup = 1.0;        // incumbent's median over the candidate's
  double separation = 0.0;     // of the intervals, a fraction of the lower time; negative: overlap
  double required_gain = 0.0;  // that the medians had to differ by, a fraction of the slower one
  TimingSummary candidate;
  TimingSummary incumbent;
  std::string reason;  // in words, e.g. "the intervals overlap"
};

// Judges the candidate against the incumbent from samples taken next to each other.
//
// FAST: the intervals are at least kIntervalSeparation apart and the candidate's median is lower by
// max(kSmallestGain, kNoiseFactor x noise) of the incumbent's plus one tick of the timer (two
// medians on a grid differ by up to a tick more than the times behind them). SLOW: the same with
// the roles exchanged. SAME: medians within kSameMedians, overlap of at least kSameOverlap, robust
// variation of both at most kSameVariation. Else AMBIGUOUS. Where both sides have clocks, the word
// must also hold in cycles (seconds x SM clock), else it is AMBIGUOUS: a clock that differed is
// then what was measured.
//
// `noise`: relative difference of medians seen when the incumbent was timed against itself
// (aa_noise). AMBIGUOUS when a side has fewer than two samples, or when all samples of each side
// are equal, because then the tick is not known.
[[nodiscard]] TimingVerdict judge(const TimedSamples& candidate, const TimedSamples& incumbent,
                                  double noise);

// The word in one unit alone, from summaries. `relative_tick`: the timer's tick over the median
// when the samples themselves do not show it (cycles); without it the summaries' ticks are used.
[[nodiscard]] TimingVerdict judge_summaries(const TimingSummary& candidate,
                                            const TimingSummary& incumbent, double noise,
                                            std::optional<double> relative_tick = std::nullopt);

// Noise of A/A trials, in which a kernel was timed against itself: the largest |ln(first/second)|
// of the pairs of medians. The largest, not the mean: where two sides differ by chance for a whole
// trial (their buffers), three times the mean of ten trials is passed by one comparison in thirty,
// three times the largest by one in three thousand (normal offsets, simulated). 0 without trials;
// medians must be above 0 and of equal number.
[[nodiscard]] double aa_noise(std::span<const double> first_medians,
                              std::span<const double> second_medians);

}  // namespace regraph::gpu
