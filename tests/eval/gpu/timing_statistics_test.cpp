#include "eval/gpu/timing/timing_statistics.h"

#include "eval/gpu/noise_models.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace regraph::gpu::timing_statistics_test {
namespace {

TEST(TimingStatistics, OrderStatisticsOfAKnownSet) {
  const std::vector<double> samples = {5, 1, 4, 2, 3};
  const TimingSummary summary = summarize(samples);
  EXPECT_EQ(summary.count, 5);
  EXPECT_DOUBLE_EQ(summary.minimum, 1);
  EXPECT_DOUBLE_EQ(summary.first_quartile, 2);
  EXPECT_DOUBLE_EQ(summary.median, 3);
  EXPECT_DOUBLE_EQ(summary.third_quartile, 4);
  EXPECT_DOUBLE_EQ(summary.maximum, 5);
  EXPECT_DOUBLE_EQ(summary.tick, 1);
  EXPECT_NEAR(summary.robust_variation, 1.4826 / 3, 1e-5);
  const std::vector<double> even = {4, 1, 3, 2};
  EXPECT_DOUBLE_EQ(summarize(even).median, 2.5);
  EXPECT_DOUBLE_EQ(median(even), 2.5);
}

TEST(TimingStatistics, NothingAndOneSample) {
  EXPECT_EQ(summarize({}).count, 0);
  EXPECT_EQ(summarize({}).relative_standard_error(), 0.0);
  EXPECT_EQ(median({}), 0.0);
  const std::vector<double> one = {7.0};
  EXPECT_DOUBLE_EQ(summarize(one).third_quartile, 7.0);
  EXPECT_EQ(bootstrap_median_ratio({}, one).low, 0.0);
}

TEST(TimingStatistics, TickIgnoresRoundingNoise) {
  const std::vector<double> samples = {1.0, 1.0 + 1e-12, 1.5, 1.5 + 1e-12, 3.0};
  EXPECT_NEAR(summarize(samples, 1e-9).tick, 0.5, 1e-9);
  EXPECT_NEAR(summarize(samples).tick, 1e-12, 1e-14);
}

// The standard error must be what the median really scatters by, whatever the distribution.
TEST(TimingStatistics, StandardErrorIsTheScatterOfTheMedian) {
  for (const test::NoiseModel& model : test::noise_models()) {
    if (model.drift > 0.0 || model.persistent_sigma > 0.0) continue;  // samples not independent
    std::vector<double> medians;
    std::vector<double> errors;
    for (std::uint64_t trial = 0; trial < 300; ++trial) {
      std::vector<double> samples;
      for (std::uint64_t i = 0; i < 100; ++i)
        samples.push_back(model.sample(1e-4, trial, 0, i));
      const TimingSummary summary = summarize(samples);
      medians.push_back(summary.median);
      errors.push_back(summary.median_standard_error);
    }
    double mean = 0.0;
    for (const double m : medians)
      mean += m / 300.0;
    double variance = 0.0;
    for (const double m : medians)
      variance += (m - mean) * (m - mean) / 299.0;
    const double scatter = std::sqrt(variance);
    const double claimed = median(errors);
    EXPECT_GT(claimed, 0.8 * scatter) << model.name;
    // On a coarse grid the rounding error is the floor, however well the median repeats.
    const double floor = model.tick_seconds / std::sqrt(12.0);
    EXPECT_LT(claimed, std::max(1.5 * scatter, 1.01 * floor)) << model.name;
  }
}

TEST(TimingStatistics, RobustVariationIsSigmaForNormalSamplesAndIgnoresOutliers) {
  const test::NoiseModel clean = {.name = "", .spread = 0.01};
  test::NoiseModel dirty = clean;
  dirty.outlier_share = 0.05;
  std::vector<double> samples[2];
  for (std::uint64_t i = 0; i < 4000; ++i) {
    samples[0].push_back(clean.sample(1.0, 1, 0, i));
    samples[1].push_back(dirty.sample(1.0, 1, 0, i));
  }
  EXPECT_NEAR(summarize(samples[0]).robust_variation, 0.01, 0.0005);
  EXPECT_NEAR(summarize(samples[1]).robust_variation, 0.01, 0.0015);
}

TEST(TimingStatistics, BootstrapIsDeterministicAndCoversTheTruth) {
  const test::NoiseModel model = {.name = "", .spread = 0.01};
  int covered = 0;
  double width = 0.0;
  constexpr int kTrials = 200;
  for (std::uint64_t trial = 0; trial < kTrials; ++trial) {
    std::vector<double> a;
    std::vector<double> b;
    for (std::uint64_t i = 0; i < 60; ++i) {
      a.push_back(model.sample(1.2, trial, 0, i));
      b.push_back(model.sample(1.0, trial, 1, i));
    }
    const BootstrapConfig config = {.seed = trial, .resamples = 300};
    const Interval interval = bootstrap_median_ratio(a, b, config);
    const Interval again = bootstrap_median_ratio(a, b, config);
    EXPECT_EQ(interval.low, again.low);
    EXPECT_EQ(interval.high, again.high);
    if (interval.low <= 1.2 && 1.2 <= interval.high) ++covered;
    width += (interval.high - interval.low) / kTrials;
  }
  // 95 % nominal; three standard deviations of 200 trials are 4.6 points.
  EXPECT_GE(covered, 0.90 * kTrials);
  EXPECT_LT(width, 0.02);
}

TEST(TimingStatistics, BlocksWidenTheIntervalOfSamplesThatShareAClock) {
  // Twenty blocks of ten samples; the block decides the time, the samples add next to nothing.
  std::vector<double> a;
  std::vector<double> b;
  for (std::uint64_t i = 0; i < 200; ++i) {
    a.push_back(1.0 + 0.02 * test::normal(1, i / 10) + 1e-4 * test::normal(2, i));
    b.push_back(1.0 + 0.02 * test::normal(3, i / 10) + 1e-4 * test::normal(4, i));
  }
  const Interval alone = bootstrap_median_ratio(a, b, {.seed = 5, .resamples = 500});
  const Interval blocks =
      bootstrap_median_ratio(a, b, {.seed = 5, .resamples = 500, .block_length = 10});
  EXPECT_GT(blocks.high - blocks.low, 1.5 * (alone.high - alone.low));
}

}  // namespace
}  // namespace regraph::gpu::timing_statistics_test
