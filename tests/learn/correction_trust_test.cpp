#include "learn/correction_trust.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace regraph::learn::correction_trust_test {
namespace {

// Two siblings of which the second is worth `value`; the prior prefers neither.
PolicyExample example_of(double value, bool at_original, double weight = 1.0) {
  PolicyExample example;
  example.rows = {{0.0F}, {0.0F}};
  example.log_priors = {0.0, 0.0};
  example.returns = {0.0, value};
  example.weight = weight;
  example.decided = true;
  example.at_original = at_original;
  return example;
}

TEST(CorrectionTrust, IsWhatWouldHaveBeenBest) {
  // pi* of the second is 1 / (1 + e^-(.1 / .05)): a correction of 2 is right, 4 twice too much, and
  // one of the wrong sign is not worth anything.
  const double right = 0.1 / 0.05;
  const struct {
    double correction;
    float trust;
  } cases[] = {{right, 1.0F},       {2.0 * right, 0.5F}, {4.0 * right, 0.25F},
               {0.5 * right, 1.0F}, {-right, 0.0F},      {0.0, 0.0F}};
  for (const auto& expected : cases) {
    const std::vector<PolicyExample> examples(10, example_of(0.1, true));
    const std::vector<std::vector<double>> corrections(10, {0.0, expected.correction});
    const auto trust = trust_of(examples, corrections, 0.05);
    EXPECT_FLOAT_EQ(trust.at_original, expected.trust) << expected.correction;
    EXPECT_EQ(trust.below, kUsualTrust.below);  // nothing to measure it by
  }
}

TEST(CorrectionTrust, OriginalsAndLaterStatesAreApart) {
  std::vector<PolicyExample> examples(10, example_of(0.1, true));
  examples.insert(examples.end(), 10, example_of(0.1, false));
  std::vector<std::vector<double>> corrections(10, {0.0, -1.0});
  corrections.insert(corrections.end(), 10, {0.0, 2.0});
  const auto trust = trust_of(examples, corrections, 0.05);
  EXPECT_EQ(trust.at_original, 0.0F);
  EXPECT_EQ(trust.below, 1.0F);
}

TEST(CorrectionTrust, WeightsCountAndUndecidedGroupsDoNot) {
  std::vector<PolicyExample> examples(10, example_of(0.1, false));
  examples.insert(examples.end(), 10, example_of(0.1, false, 1e-6));
  PolicyExample undecided = example_of(0.1, false, 1e6);
  undecided.decided = false;
  examples.insert(examples.end(), 10, undecided);
  std::vector<std::vector<double>> corrections(10, {0.0, 2.0});
  corrections.insert(corrections.end(), 20, {0.0, -2.0});
  EXPECT_EQ(trust_of(examples, corrections, 0.05).below, 1.0F);
}

TEST(CorrectionTrust, AFewGroupsSayNothing) {
  const std::vector<PolicyExample> examples(7, example_of(0.1, true));
  const std::vector<std::vector<double>> corrections(7, {0.0, -5.0});
  EXPECT_EQ(trust_of(examples, corrections, 0.05).at_original, kUsualTrust.at_original);
}

}  // namespace
}  // namespace regraph::learn::correction_trust_test
