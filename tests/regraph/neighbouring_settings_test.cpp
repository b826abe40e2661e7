#include "regraph/neighbouring_settings.h"

#include <gtest/gtest.h>

namespace regraph::test::neighbouring_settings_test {
namespace {

StepProposal share(const char* threads, const char* rows) {
  return {"share", {{"threads", threads}, {"rows", rows}}};
}

TEST(NeighbouringSettings, DifferInOneNumberByTwo) {
  EXPECT_TRUE(are_neighbours(share("32", "8"), share("32", "4")));
  EXPECT_TRUE(are_neighbours(share("64", "8"), share("32", "8")));
  EXPECT_FALSE(are_neighbours(share("128", "8"), share("32", "8")));
  EXPECT_FALSE(are_neighbours(share("64", "8"), share("32", "4")));
  EXPECT_FALSE(are_neighbours(share("32", "8"), share("32", "8")));
  // Loops have numbers, too, and axes names.
  EXPECT_FALSE(are_neighbours({"unroll", {{"loop", "1"}}}, {"unroll", {{"loop", "2"}}}));
  EXPECT_FALSE(are_neighbours({"unroll", {{"loop", "all"}}}, {"unroll", {{"loop", "4"}}}));
  EXPECT_FALSE(are_neighbours({"a", {{"width", "4"}}}, {"b", {{"width", "8"}}}));
  EXPECT_FALSE(are_neighbours({"a", {{"width", "4"}}}, {"a", {{"depth", "8"}}}));
  EXPECT_FALSE(are_neighbours({"a", {{"width", "4"}}}, {"a", {{"width", "4"}, {"form", "x"}}}));
}

TEST(NeighbouringSettings, ComeAfterThoseThatDifferMore) {
  const std::vector<StepProposal> proposals = {
      share("32", "16"), share("32", "8"), share("32", "4"), share("256", "4"), {"other", {}}};
  std::vector<double> scores = {0.25, 0.24, 0.23, 0.2, 0.08};
  spread_over_settings(proposals, scores);
  // The second is next to two that come before it; scaled to what they had together.
  const double scale = 0.92 / (0.25 + 0.12 + 0.23 + 0.2);
  EXPECT_NEAR(scores[0], 0.25 * scale, 1e-12);
  EXPECT_NEAR(scores[1], 0.12 * scale, 1e-12);
  EXPECT_NEAR(scores[2], 0.23 * scale, 1e-12);
  EXPECT_NEAR(scores[3], 0.2 * scale, 1e-12);
  EXPECT_EQ(scores[4], 0.08);
}

TEST(NeighbouringSettings, NothingToSpread) {
  std::vector<double> none;
  spread_over_settings({}, none);
  const std::vector<StepProposal> proposals = {share("32", "8"), share("32", "4")};
  std::vector<double> zeros = {0.0, 0.0};
  spread_over_settings(proposals, zeros);
  EXPECT_EQ(zeros, (std::vector<double>{0.0, 0.0}));
}

}  // namespace
}  // namespace regraph::test::neighbouring_settings_test
