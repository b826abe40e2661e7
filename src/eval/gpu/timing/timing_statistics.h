// Robust statistics of timing samples. Pure; thread-safe because it keeps no state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace regraph::gpu {

// Order statistics of one kernel's samples, in the unit of the samples (seconds or clock cycles).
// Everything is 0 without samples.
struct TimingSummary {
  int count = 0;
  double minimum = 0.0;
  double first_quartile = 0.0;
  double median = 0.0;
  double third_quartile = 0.0;
  double maximum = 0.0;
  // Of the median, without assuming a distribution: McKean, Schrader, "A comparison of methods for
  // studentizing the sample median", Communications in Statistics B 13 (1984): half the distance of
  // the order statistics that enclose the median with 95 % probability, over 1.96. Never below the
  // rounding error of the tick, tick / sqrt(12).
  double median_standard_error = 0.0;
  // Robust coefficient of variation, a fraction: 1.4826 x median absolute deviation / median.
  // Equals standard deviation / mean for a normal distribution (Rousseeuw, Croux, JASA 88 (1993)).
  double robust_variation = 0.0;
  // The clock's tick as far as the samples show it: the smallest distance between different
  // samples. 0 when all samples are equal.
  double tick = 0.0;

  // The standard error over the median, a fraction; 0 without samples.
  [[nodiscard]] double relative_standard_error() const;
};

// Summarises `samples`, which must be finite and need no order. Quartiles interpolate linearly
// between order statistics (Hyndman, Fan, The American Statistician 50 (1996), type 7). Samples
// closer than `same_below` count as equal for the tick: the float milliseconds of the driver carry
// rounding noise.
[[nodiscard]] TimingSummary summarize(std::span<const double> samples, double same_below = 0.0);

// Median of `samples`; 0 without samples.
[[nodiscard]] double median(std::span<const double> samples);

struct Interval {
  double low = 0.0;
  double high = 0.0;
};

struct BootstrapConfig {
  std::uint64_t seed = 0;
  int resamples = 2000;
  double confidence = 0.95;
  // Samples drawn together, because neighbours share a clock: blocks of consecutive samples
  // (Kuensch, "The jackknife and the bootstrap for general stationary observations", Annals of
  // Statistics 17 (1989)). 1 for independent samples.
  int block_length = 1;
};

// Percentile bootstrap interval (Efron, Tibshirani, "An Introduction to the Bootstrap", 1993, 13.3)
// of median(numerator) / median(denominator). Samples in the order they were taken, all above 0.
// Deterministic in its arguments. {0, 0} when either side has no samples.
[[nodiscard]] Interval bootstrap_median_ratio(std::span<const double> numerator,
                                              std::span<const double> denominator,
                                              const BootstrapConfig& config = {});

}  // namespace regraph::gpu
