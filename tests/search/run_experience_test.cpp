#include "search/run_experience.h"

#include <gtest/gtest.h>

#include <cmath>

namespace regraph::run_experience_test {
namespace {

StepProposal proposal(const char* step, const char* factor = "2") {
  return {.step = step, .parameters = {{"factor", factor}}};
}

TEST(RunExperience, KnowsNothingAtFirst) {
  EXPECT_EQ(RunExperience{}.shift(proposal("tile"), 0.5), 0.0);
}

TEST(RunExperience, PrefersWhatPaidMoreThanExpectedAndTurnsFromWhatFailed) {
  RunExperience experience;
  experience.observe(proposal("good"), 0.8, 0.2);
  experience.observe(proposal("bad"), -0.3, 0.2);
  experience.observe_failure(proposal("broken"), 0.2);
  EXPECT_GT(experience.shift(proposal("good"), 0.2), 0.0);
  EXPECT_LT(experience.shift(proposal("bad"), 0.2), 0.0);
  EXPECT_LT(experience.shift(proposal("broken"), 0.2), experience.shift(proposal("bad"), 0.2));
  EXPECT_EQ(experience.shift(proposal("never tried"), 0.2), 0.0);
}

TEST(RunExperience, ExpectationsThatAreTooHighForAllDoNotCountAgainstTheTried) {
  RunExperience experience;
  for (const char* step : {"a", "b", "c"})
    experience.observe(proposal(step), 0.1, 1.1);
  EXPECT_NEAR(experience.shift(proposal("a"), 1.1), 0.0, 1e-12);
}

TEST(RunExperience, TellsSettingsOfAStepApart) {
  RunExperience experience;
  experience.observe(proposal("block", "64"), 0.4, 0.1);
  experience.observe(proposal("block", "1024"), -0.2, 0.1);
  EXPECT_GT(experience.shift(proposal("block", "64"), 0.1),
            experience.shift(proposal("block", "256"), 0.1));
  EXPECT_LT(experience.shift(proposal("block", "1024"), 0.1),
            experience.shift(proposal("block", "256"), 0.1));
}

TEST(RunExperience, FollowsItsFormula) {
  RunExperience experience;
  experience.observe(proposal("x", "2"), 0.6, 0.1);   // residual .5
  experience.observe(proposal("y", "2"), -0.2, 0.1);  // -.3
  const double mean = 0.1;
  const double step = (0.5 - mean) / 5.0;
  const double setting = (0.5 - mean - step) / 3.0;
  EXPECT_NEAR(experience.shift(proposal("x", "2"), 0.1), std::log((0.1 + step + setting) / 0.1),
              1e-12);
  EXPECT_NEAR(experience.shift(proposal("x", "4"), 0.1), std::log((0.1 + step) / 0.1), 1e-12);
}

TEST(RunExperience, OneWonderDoesNotDecideTheSearch) {
  RunExperience experience;
  experience.observe(proposal("wonder"), 6.0, 0.0);
  experience.observe(proposal("plain"), 0.0, 0.0);
  EXPECT_LE(experience.shift(proposal("wonder"), 0.02), 1.5);
}

}  // namespace
}  // namespace regraph::run_experience_test
