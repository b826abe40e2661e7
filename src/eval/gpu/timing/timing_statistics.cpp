#include "eval/gpu/timing/timing_statistics.h"

#include "base/random.h"

#include <algorithm>
#include <cmath>

namespace regraph::gpu {
namespace {

constexpr double kTwoSided95 = 1.959963984540054;
// 1 / the 75 % quantile of the standard normal distribution.
constexpr double kDeviationToSigma = 1.482602218505602;

double quantile(std::span<const double> sorted, double share) {
  const double position = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  if (below + 1 >= sorted.size()) return sorted.back();
  const double weight = position - static_cast<double>(below);
  return sorted[below] + weight * (sorted[below + 1] - sorted[below]);
}

double smallest_distance(std::span<const double> sorted, double same_below) {
  double smallest = 0.0;
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    const double distance = sorted[i] - sorted[i - 1];
    if (distance <= same_below) continue;
    if (smallest == 0.0 || distance < smallest) smallest = distance;
  }
  return smallest;
}

double standard_error_of_median(std::span<const double> sorted, double tick) {
  const double n = static_cast<double>(sorted.size());
  // Rank, from 1, of the lower end of the interval. Below about six samples no pair of order
  // statistics encloses the median with 95 %: the extremes are then what is known.
  const double rank = std::max(1.0, std::floor((n + 1.0) / 2.0 - kTwoSided95 * std::sqrt(n / 4.0)));
  const auto low = static_cast<std::size_t>(rank) - 1;
  const double half = (sorted[sorted.size() - 1 - low] - sorted[low]) / 2.0;
  return std::max(half / kTwoSided95, tick / std::sqrt(12.0));
}

double median_in_place(std::vector<double>& values) {
  const std::size_t middle = values.size() / 2;
  const auto position = values.begin() + static_cast<std::ptrdiff_t>(middle);
  std::nth_element(values.begin(), position, values.end());
  if (values.size() % 2 == 1) return *position;
  return (*position + *std::max_element(values.begin(), position)) / 2.0;
}

// Fills `drawn` with as many samples, in blocks that wrap around the end.
void resample(std::span<const double> samples, std::size_t block_length, std::uint64_t draw,
              std::vector<double>& drawn) {
  drawn.clear();
  for (std::uint64_t block = 0; drawn.size() < samples.size(); ++block) {
    const double where = to_unit_interval(random_bits(draw, block));
    const auto start = static_cast<std::size_t>(where * static_cast<double>(samples.size()));
    for (std::size_t i = 0; i < block_length && drawn.size() < samples.size(); ++i)
      drawn.push_back(samples[(start + i) % samples.size()]);
  }
}

}  // namespace

double TimingSummary::relative_standard_error() const {
  return median > 0.0 ? median_standard_error / median : 0.0;
}

double median(std::span<const double> samples) {
  if (samples.empty()) return 0.0;
  std::vector<double> values(samples.begin(), samples.end());
  return median_in_place(values);
}

TimingSummary summarize(std::span<const double> samples, double same_below) {
  TimingSummary summary;
  if (samples.empty()) return summary;
  std::vector<double> values(samples.begin(), samples.end());
  std::sort(values.begin(), values.end());
  summary.count = static_cast<int>(values.size());
  summary.minimum = values.front();
  summary.first_quartile = quantile(values, 0.25);
  summary.median = quantile(values, 0.5);
  summary.third_quartile = quantile(values, 0.75);
  summary.maximum = values.back();
  summary.tick = smallest_distance(values, same_below);
  summary.median_standard_error = standard_error_of_median(values, summary.tick);
  for (double& value : values)
    value = std::abs(value - summary.median);
  const double deviation = median_in_place(values);
  if (summary.median > 0.0)
    summary.robust_variation = kDeviationToSigma * deviation / summary.median;
  return summary;
}

Interval bootstrap_median_ratio(std::span<const double> numerator,
                                std::span<const double> denominator,
                                const BootstrapConfig& config) {
  if (numerator.empty() || denominator.empty() || config.resamples < 1) return {};
  const auto block_length = static_cast<std::size_t>(std::max(1, config.block_length));
  std::vector<double> ratios;
  std::vector<double> drawn;
  ratios.reserve(static_cast<std::size_t>(config.resamples));
  for (int i = 0; i < config.resamples; ++i) {
    resample(numerator, block_length, random_bits(config.seed, i, 0), drawn);
    const double above = median_in_place(drawn);
    resample(denominator, block_length, random_bits(config.seed, i, 1), drawn);
    ratios.push_back(above / median_in_place(drawn));
  }
  std::sort(ratios.begin(), ratios.end());
  const double tail = (1.0 - config.confidence) / 2.0;
  return {quantile(ratios, tail), quantile(ratios, 1.0 - tail)};
}

}  // namespace regraph::gpu
