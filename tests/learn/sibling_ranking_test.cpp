#include "learn/sibling_ranking.h"

#include "learn/sibling_examples.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace regraph::learn::sibling_ranking_test {
namespace {

using namespace examples;

TEST(RankSiblings, CountsFamiliesAlike) {
  // Prior order is that of the edges.
  const auto ordered = [](const std::string& family, std::vector<double> values) {
    std::vector<SiblingEdge> edges;
    for (const double value : values)
      edges.push_back(edge_of(value, -static_cast<double>(edges.size())));
    return group_of(family, std::move(edges));
  };
  const std::vector<SiblingGroup> groups = {
      ordered("a", {0.5, 0.1, -1.0}),       // first
      ordered("a", {0.49, 0.1, 0.5}),       // as good as the best
      ordered("a", {-1.0, 0.1, 0.2, 0.3}),  // fourth
      ordered("b", {0.1, 0.5}),             // second
      ordered("b", {0.04, -1.0, 0.0}),      // nothing pays: left out
  };
  const RankingScore score = rank_siblings(groups, layout(), nullptr, RankedBy::best_below);
  EXPECT_EQ(score.groups, 4);
  EXPECT_EQ(score.families, 2);
  EXPECT_DOUBLE_EQ(score.top_one, (2.0 / 3.0 + 0.0) / 2.0);
  EXPECT_DOUBLE_EQ(score.top_three, (2.0 / 3.0 + 1.0) / 2.0);
  EXPECT_DOUBLE_EQ(score.mean_rank, ((1.0 + 1.0 + 4.0) / 3.0 + 2.0) / 2.0);
  const RankingScore none = rank_siblings({}, layout(), nullptr, RankedBy::best_below);
  EXPECT_EQ(none.groups, 0);
  EXPECT_EQ(none.mean_rank, 0.0);
}

TEST(RankSiblings, TellsTheStepsOwnGainFromWhatIsBelow) {
  SiblingEdge slow = edge_of(0.9, -1.0);
  slow.log_gain = 0.0;
  SiblingEdge wrong = edge_of(-1.0, -0.5);
  wrong.log_gain = 2.0;  // of what was not verified: means nothing
  const std::vector<SiblingGroup> groups = {group_of("a", {slow, wrong, edge_of(0.3, -2.0)})};
  EXPECT_DOUBLE_EQ(rank_siblings(groups, layout(), nullptr, RankedBy::best_below).mean_rank, 2.0);
  EXPECT_DOUBLE_EQ(rank_siblings(groups, layout(), nullptr, RankedBy::log_gain).mean_rank, 3.0);
}

TEST(RankingScore, ScoresOfOtherFamiliesArePutBeside) {
  RankingScore score = {0.5, 1.0, 2.0, 10, 1};
  score.add({0.2, 0.4, 5.0, 30, 2});
  EXPECT_DOUBLE_EQ(score.top_one, (0.5 + 2 * 0.2) / 3.0);
  EXPECT_DOUBLE_EQ(score.top_three, (1.0 + 2 * 0.4) / 3.0);
  EXPECT_DOUBLE_EQ(score.mean_rank, 4.0);
  EXPECT_EQ(score.groups, 40);
  EXPECT_EQ(score.families, 3);
  RankingScore none;
  none.add({});
  EXPECT_EQ(none.top_one, 0.0);
}

}  // namespace
}  // namespace regraph::learn::sibling_ranking_test
