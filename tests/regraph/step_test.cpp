#include "regraph/step.h"

#include <gtest/gtest.h>

namespace regraph {
namespace {

TEST(Step, NamesAreComparedWithoutCaseAndPunctuation) {
  EXPECT_EQ(normalised_name("Loop-Unrolling (2x)"), "loopunrolling2x");
  EXPECT_EQ(normalised_name("__ldg"), normalised_name("LDG"));
  EXPECT_EQ(normalised_name(" ;- "), "");
}

TEST(Step, EvidenceConditionsCompare) {
  const auto holds = [](Comparison comparison, double measured) {
    return EvidenceCondition{"occupancy", comparison, 0.5, 1.0}.holds(measured);
  };
  EXPECT_TRUE(holds(Comparison::less, 0.4));
  EXPECT_FALSE(holds(Comparison::less, 0.5));
  EXPECT_TRUE(holds(Comparison::less_equal, 0.5));
  EXPECT_TRUE(holds(Comparison::greater, 0.6));
  EXPECT_FALSE(holds(Comparison::greater, 0.5));
  EXPECT_TRUE(holds(Comparison::greater_equal, 0.5));
}

TEST(Step, EvidenceMatchIsTheWeightedShare) {
  Step step;
  EXPECT_DOUBLE_EQ(step.evidence_match({}), 0.5);
  step.evidence = {{"occupancy", Comparison::less, 0.5, 3.0},
                   {"waves", Comparison::greater, 2.0, 1.0}};
  EXPECT_DOUBLE_EQ(step.evidence_match({}), 0.5);
  EXPECT_DOUBLE_EQ(step.evidence_match({{"occupancy", 0.2}, {"waves", 1.0}}), 0.75);
  EXPECT_DOUBLE_EQ(step.evidence_match({{"occupancy", 0.9}, {"waves", 5.0}}), 0.25);
  EXPECT_DOUBLE_EQ(step.evidence_match({{"occupancy", 0.2}}), 0.875);  // waves: half
}

TEST(Step, NeedsWhatTheUserGrants) {
  Step step;
  Assumptions assume;
  EXPECT_TRUE(step.granted(assume));
  step.needs = {"fast_math"};
  EXPECT_FALSE(step.granted(assume));
  assume.fast_math = true;
  EXPECT_TRUE(step.granted(assume));
  step.needs = {"fast_math", "lower_precision"};
  EXPECT_FALSE(step.granted(assume));
  assume.keep_precision = false;
  EXPECT_TRUE(step.granted(assume));
  assume.noalias = false;
  step.needs = {"noalias"};
  EXPECT_FALSE(step.granted(assume));
}

}  // namespace
}  // namespace regraph
