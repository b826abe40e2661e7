#include "eval/model/calibration/rank_statistics.h"

#include <gtest/gtest.h>

#include <vector>

namespace regraph::calibration::rank_statistics_test {
namespace {

using Values = std::vector<double>;

// By hand: of the 10 pairs 8 are concordant and 2 discordant.
TEST(RankStatistics, KendallCountsPairs) {
  EXPECT_DOUBLE_EQ(*kendall_tau(Values{1, 2, 3, 4, 5}, Values{2, 1, 3, 5, 4}), 0.6);
  EXPECT_DOUBLE_EQ(*kendall_tau(Values{1, 2, 3}, Values{10, 20, 40}), 1.0);
  EXPECT_DOUBLE_EQ(*kendall_tau(Values{1, 2, 3}, Values{9, 5, 1}), -1.0);
}

// By hand: pairs (1,1) tied in x; (2,3) and others: x = 1 1 2 3, y = 1 2 2 3. Concordant 4 (1-2
// with y 1<2; both 1s with 3; 2 with 3), discordant 0, x-tied 1, y-tied 1: 4 / sqrt(5 * 5).
TEST(RankStatistics, KendallCorrectsForTies) {
  EXPECT_DOUBLE_EQ(*kendall_tau(Values{1, 1, 2, 3}, Values{1, 2, 2, 3}), 0.8);
  EXPECT_FALSE(kendall_tau(Values{1, 1, 1}, Values{1, 2, 3}).has_value());
  EXPECT_FALSE(kendall_tau(Values{1, 2, 3}, Values{4, 4, 4}).has_value());
  EXPECT_FALSE(kendall_tau(Values{1}, Values{1}).has_value());
  EXPECT_FALSE(kendall_tau(Values{}, Values{}).has_value());
}

// By hand: differences of ranks -1, 1, 0, -1, 1: 1 - 6 * 4 / (5 * 24).
TEST(RankStatistics, SpearmanComparesRanks) {
  EXPECT_DOUBLE_EQ(*spearman(Values{1, 2, 3, 4, 5}, Values{20, 10, 30, 500, 400}), 0.8);
  EXPECT_DOUBLE_EQ(*spearman(Values{1, 2, 3}, Values{3, 2, 1}), -1.0);
  // Ranks 0.5 0.5 2 3 and 0 1.5 1.5 3; about their mean 1.5: products 1.5, 0, 0, 2.25 of squares
  // 4.5 and 4.5.
  EXPECT_NEAR(*spearman(Values{1, 1, 2, 3}, Values{1, 2, 2, 3}), 3.75 / 4.5, 1e-15);
  EXPECT_FALSE(spearman(Values{1, 1}, Values{1, 2}).has_value());
  EXPECT_FALSE(spearman(Values{}, Values{}).has_value());
}

TEST(RankStatistics, ErrorsAreRelativeToTheMeasurement) {
  const RelativeError error = relative_error(Values{110, 50, 400}, Values{100, 100, 100});
  EXPECT_DOUBLE_EQ(error.mean, (0.1 + 0.5 + 3.0) / 3.0);
  EXPECT_DOUBLE_EQ(error.median, 0.5);
  EXPECT_EQ(relative_error(Values{}, Values{}).mean, 0.0);
}

TEST(RankStatistics, RegretIsWhatFollowingThePredictionCosts) {
  EXPECT_DOUBLE_EQ(regret_at_one(Values{3, 1, 2}, Values{10, 15, 30}), 1.5);
  EXPECT_DOUBLE_EQ(regret_at_one(Values{1, 2, 3}, Values{10, 15, 30}), 1.0);
  // Two predicted equally fast: the mean of 10 and 30.
  EXPECT_DOUBLE_EQ(regret_at_one(Values{1, 2, 1}, Values{10, 15, 30}), 2.0);
  EXPECT_EQ(regret_at_one(Values{}, Values{}), 1.0);
}

TEST(RankStatistics, TheTopShareIsRoundedUp) {
  EXPECT_EQ(top_count(0, 0.1), 0U);
  EXPECT_EQ(top_count(1, 0.1), 1U);
  EXPECT_EQ(top_count(10, 0.1), 1U);
  EXPECT_EQ(top_count(11, 0.1), 2U);
  EXPECT_EQ(top_count(30, 0.1), 3U);
  EXPECT_EQ(top_count(5, 1.0), 5U);
}

TEST(RankStatistics, RecallAsksWhetherTheBestIsNearTheTop) {
  Values predicted;
  Values measured;
  for (int i = 0; i < 20; ++i) {
    predicted.push_back(i);
    measured.push_back(100 - i);
  }
  EXPECT_EQ(recall_of_best(predicted, measured, 0.1), 0.0);  // the best is predicted last
  measured[1] = 1.0;
  EXPECT_EQ(recall_of_best(predicted, measured, 0.1), 1.0);
  measured[2] = 0.5;
  EXPECT_EQ(recall_of_best(predicted, measured, 0.1), 0.0);
  // Three predicted alike for one place that is left.
  predicted[1] = predicted[2] = predicted[3] = 1.0;
  EXPECT_DOUBLE_EQ(recall_of_best(predicted, measured, 0.1), 1.0 / 3.0);
  EXPECT_EQ(recall_of_best(Values{}, Values{}, 0.1), 0.0);
}

TEST(RankStatistics, QualityHoldsAllOfThem) {
  const Values predicted = {1.1, 1.8, 3.3};
  const Values measured = {1.0, 2.0, 3.0};
  const RankQuality quality = rank_quality(predicted, measured);
  EXPECT_EQ(quality.count, 3U);
  EXPECT_EQ(quality.tau, 1.0);
  EXPECT_EQ(quality.rho, 1.0);
  EXPECT_NEAR(quality.error.mean, 0.1, 1e-12);
  EXPECT_EQ(quality.regret, 1.0);
  EXPECT_EQ(quality.recall, 1.0);
}

TEST(RankStatistics, MedianOfEvenCountsIsTheMean) {
  EXPECT_EQ(median_of(Values{}), 0.0);
  EXPECT_EQ(median_of(Values{3, 1, 2}), 2.0);
  EXPECT_EQ(median_of(Values{4, 1, 2, 3}), 2.5);
}

}  // namespace
}  // namespace regraph::calibration::rank_statistics_test
