#include "regraph/gain_statistics.h"

#include <gtest/gtest.h>

#include <limits>

namespace regraph::gain_statistics_test {
namespace {

const GainStatistics kSound = {2, 3, 4, 0.5, 6, 5, -0.25};

TEST(GainStatistics, ShrinksTowardThePrior) {
  EXPECT_DOUBLE_EQ(kSound.shrunk(1.0, 2.0), (2.0 * 1.0 + 0.5) / 4.0);
  EXPECT_DOUBLE_EQ(GainStatistics{}.shrunk(0.7, 0.0), 0.7);
}

TEST(GainStatistics, KnowsNonsense) {
  EXPECT_EQ(kSound.nonsense(), "");
  EXPECT_EQ(GainStatistics{}.nonsense(), "");
  const auto wrong = [](auto change) {
    GainStatistics statistics = kSound;
    change(statistics);
    return !statistics.nonsense().empty();
  };
  EXPECT_TRUE(wrong([](GainStatistics& s) { s.families = -1; }));
  EXPECT_TRUE(wrong([](GainStatistics& s) { s.families = 4; }));
  EXPECT_TRUE(wrong([](GainStatistics& s) { s.observations = 7; }));
  EXPECT_TRUE(wrong([](GainStatistics& s) { s.verified = 7; }));
  EXPECT_TRUE(wrong([](GainStatistics& s) { s.sum_positive = -0.1; }));
  EXPECT_TRUE(wrong([](GainStatistics& s) { s.sum_positive = 1e9; }));
  EXPECT_TRUE(wrong([](GainStatistics& s) { s.sum_log_gain = 1e9; }));
  EXPECT_TRUE(
      wrong([](GainStatistics& s) { s.sum_log_gain = std::numeric_limits<double>::quiet_NaN(); }));
  EXPECT_TRUE(wrong([](GainStatistics& s) { s = {0, 0, 0, 0.0, 5, 5, 0.0}; }));
}

TEST(LearnedGains, PredictedGainsAreWhereMeasuredOnesStart) {
  LearnedGains gains;
  gains.predicted["h200"] = {4, 4, 4, 4.0, 4, 4, 4.0};
  const GainSource predicted{"h200", TimeMethod::predicted};
  const GainSource measured{"h200", TimeMethod::measured};
  EXPECT_DOUBLE_EQ(gains.own(0.0, 4.0, 4.0, predicted), 0.5);
  EXPECT_DOUBLE_EQ(gains.own(0.0, 4.0, 4.0, measured), 0.5);
  gains.measured["h200"] = {4, 4, 4, 0.0, 4, 4, 0.0};
  EXPECT_DOUBLE_EQ(gains.own(0.0, 4.0, 4.0, predicted), 0.5);
  EXPECT_DOUBLE_EQ(gains.own(0.0, 4.0, 4.0, measured), 0.25);
  EXPECT_EQ(gains.tries(), 8);
}

TEST(LearnedGains, OtherDevicesInformANewOneAndItsOwnOutweighThem) {
  LearnedGains gains;
  gains.predicted["a100"] = {12, 12, 12, 12.0, 12, 12, 12.0};
  const GainSource source{"h200", TimeMethod::predicted};
  EXPECT_DOUBLE_EQ(gains.own(0.0, 4.0, 4.0, source), 0.75);
  gains.predicted["h200"] = {400, 400, 400, 0.0, 400, 400, 0.0};
  EXPECT_LT(gains.own(0.0, 4.0, 4.0, source), 0.01);
  EXPECT_TRUE(gains.speaks_of(source));
  EXPECT_FALSE(LearnedGains{}.speaks_of(source));
}

}  // namespace
}  // namespace regraph::gain_statistics_test
