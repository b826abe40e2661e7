#include "regraph/step.h"

#include <gtest/gtest.h>

namespace regraph::step_test {
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

TEST(Step, IsImpossibleOnlyWhereARequiredFactSaysSo) {
  Step step;
  EXPECT_TRUE(step.possible({{"waves", 0.5}}));
  step.evidence = {{"occupancy", Comparison::less, 0.5, 3.0},
                   {"waves", Comparison::greater, 1.0, 1.0, true},
                   {"loop_depth", Comparison::greater_equal, 1.0, 0.0, true}};
  EXPECT_TRUE(step.possible({}));
  EXPECT_TRUE(step.possible({{"occupancy", 0.9}}));  // only argues against it
  EXPECT_FALSE(step.possible({{"waves", 1.0}, {"occupancy", 0.1}}));
  EXPECT_FALSE(step.possible({{"loop_depth", 0.0}}));
  EXPECT_TRUE(step.possible({{"waves", 2.0}, {"loop_depth", 1.0}}));
  // What is required is weighed like the rest, unless it weighs nothing.
  EXPECT_DOUBLE_EQ(step.evidence_match({{"waves", 1.0}, {"occupancy", 0.1}}), 0.0);
  EXPECT_DOUBLE_EQ(step.evidence_match({{"waves", 2.0}, {"occupancy", 0.9}}), 0.25);
  EXPECT_DOUBLE_EQ(step.evidence_match({{"loop_depth", 1.0}}), 0.5);
  step.evidence = {{"loop_depth", Comparison::greater_equal, 1.0, 0.0, true}};
  EXPECT_DOUBLE_EQ(step.evidence_match({{"loop_depth", 1.0}}), 0.5);
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
  assume.precision = Precision::any;
  EXPECT_TRUE(step.granted(assume));
  assume.noalias = false;
  step.needs = {"noalias"};
  EXPECT_FALSE(step.granted(assume));
}

}  // namespace
}  // namespace regraph::step_test
