#include "regraph/transition.h"

#include <gtest/gtest.h>

#include <cmath>

namespace regraph {
namespace {

TEST(GainStatistics, OnlyVerifiedOutcomesAddGains) {
  GainStatistics statistics;
  statistics.add(TransitionOutcome{true, 0.5});
  statistics.add(TransitionOutcome{false, 9.0});
  statistics.add(TransitionOutcome{true, std::nan("")});
  EXPECT_EQ(statistics.attempts, 3);
  EXPECT_EQ(statistics.verified, 1);
  EXPECT_EQ(statistics.failures, 2);
  EXPECT_DOUBLE_EQ(statistics.sum_log_gain, 0.5);
  EXPECT_DOUBLE_EQ(statistics.sum_squared_log_gain, 0.25);
}

TEST(GainStatistics, DeviationIsTheUnbiasedOne) {
  GainStatistics statistics;
  for (const double gain : {1.0, 2.0, 3.0})
    statistics.add(TransitionOutcome{true, gain});
  EXPECT_NEAR(statistics.deviation(), 1.0, 1e-12);
}

TEST(Transition, ExpectsThePublishedGainUntilMeasured) {
  Transition transition;
  transition.expected_speedup = 2.0;
  EXPECT_DOUBLE_EQ(transition.expected_log_gain("h200"), std::log(2.0));
  transition.prior_weight = 0.0;
  EXPECT_DOUBLE_EQ(transition.expected_log_gain("h200"), std::log(2.0));
}

TEST(Transition, OwnMeasurementsOutweighOthersAndThePublishedGain) {
  Transition transition;
  transition.expected_speedup = 4.0;
  transition.prior_weight = 2.0;
  for (int count = 0; count < 6; ++count)
    transition.statistics["a100"].add(TransitionOutcome{true, 0.1});
  const double elsewhere = transition.expected_log_gain("h200");
  EXPECT_NEAR(elsewhere, (2.0 * std::log(4.0) + 0.6) / 8.0, 1e-12);
  for (int count = 0; count < 400; ++count)
    transition.statistics["h200"].add(TransitionOutcome{true, -0.2});
  EXPECT_NEAR(transition.expected_log_gain("h200"), -0.2, 0.01);
}

TEST(Transition, SuccessRateStartsHighAndFollowsFailures) {
  Transition transition;
  EXPECT_DOUBLE_EQ(transition.success_rate(), 0.8);
  for (int count = 0; count < 95; ++count)
    transition.statistics["h200"].add(TransitionOutcome{false, 0.0});
  EXPECT_DOUBLE_EQ(transition.success_rate(), 0.04);
}

}  // namespace
}  // namespace regraph
