#include "regraph/combined_steps.h"

#include <gtest/gtest.h>

namespace regraph::combined_steps_test {
namespace {

StepProposal proposal(const char* step, StepParameters parameters) {
  StepProposal result;
  result.step = step;
  result.parameters = std::move(parameters);
  return result;
}

TEST(CombinedSteps, PlansAreTextAndBack) {
  const std::vector<std::string> plan = {"coalesce_swap", "smem_tile", "lane_wavefront"};
  const StepProposal leap = proposal(kLeap, {{"by", "model"}, {kPlan, plan_text(plan)}});
  EXPECT_EQ(leap.text(), "leap(by=model, plan=coalesce_swap + smem_tile + lane_wavefront)");
  EXPECT_EQ(planned_steps(leap), plan);
  EXPECT_EQ(steps_of(leap), plan);
  EXPECT_TRUE(is_combined(leap));
  EXPECT_EQ(plan_text({}), "");
  EXPECT_TRUE(planned_steps(proposal(kLeap, {{kPlan, ""}})).empty());
  EXPECT_EQ(steps_of(proposal(kLeap, {})), std::vector<std::string>{kLeap});
  EXPECT_EQ(planned_steps(proposal(kLeap, {{kPlan, " + a +  + b + "}})),
            (std::vector<std::string>{"a", "b"}));
}

TEST(CombinedSteps, AnOrdinaryStepStandsForItself) {
  const StepProposal step = proposal("smem_tile", {{kPlan, "a + b"}, {kWith, "3"}});
  EXPECT_EQ(steps_of(step), std::vector<std::string>{"smem_tile"});
  EXPECT_FALSE(is_combined(step));
  EXPECT_FALSE(state_to_combine(step));
}

TEST(CombinedSteps, CombinationsNameAState) {
  EXPECT_EQ(state_to_combine(proposal(kCombine, {{kWith, "17"}})), 17U);
  for (const char* text : {"", "x", "17x", "-1", "99999999999"})
    EXPECT_FALSE(state_to_combine(proposal(kCombine, {{kWith, text}}))) << text;
  EXPECT_FALSE(state_to_combine(proposal(kCombine, {})));
}

}  // namespace
}  // namespace regraph::combined_steps_test
