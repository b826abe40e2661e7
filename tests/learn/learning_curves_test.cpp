#include "learn/learning_curves.h"

#include "learn/examples.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace regraph::learn::learning_curves_test {
namespace {

RunDigest run(const std::string& kernel, const std::string& family, const std::string& label,
              std::vector<double> curve) {
  RunDigest result = examples::digest(kernel, family, {});
  result.label = label;
  result.curve = std::move(curve);
  return result;
}

std::map<std::string, double> by_family(const std::vector<double>& values) {
  std::map<std::string, double> result;
  for (std::size_t at = 0; at < values.size(); ++at)
    result["family" + std::to_string(100 + at)] = values[at];
  return result;
}

PairedDifference of_differences(const std::vector<double>& differences) {
  return paired(by_family(differences), by_family(std::vector<double>(differences.size(), 0.0)));
}

TEST(LearningCurves, BestKnownIsOverAllRuns) {
  const std::vector<RunDigest> digests = {run("k1", "map", "a", {0.1, 0.5}),
                                          run("k1", "map", "b", {0.7}),
                                          run("k2", "map", "a", {-0.3}), run("k3", "map", "a", {})};
  const auto best = best_known(digests);
  EXPECT_EQ(best.at("k1"), 0.7);
  EXPECT_EQ(best.at("k2"), 0.0);  // the original is known
  EXPECT_EQ(best.at("k3"), 0.0);
}

TEST(LearningCurves, SharesAreMeansOverTheKernelsOfAFamily) {
  const std::vector<RunDigest> digests = {
      run("k1", "map", "a", {0.0, 0.5, 1.0, 1.0}), run("k2", "map", "a", {1.0, 1.0, 2.0, 2.0}),
      run("k3", "sum", "a", {0.2, 0.2}), run("k3", "sum", "b", {0.4})};
  const std::map<std::string, double> best = {{"k1", 1.0}, {"k2", 2.0}, {"k3", 0.4}};
  const int at[] = {1, 2, 100};
  const FamilyCurves curves = curves_of(digests, "a", best, at, 4);
  ASSERT_EQ(curves.share.size(), 2U);
  EXPECT_EQ(curves.share.at("map"), (std::vector<double>{0.25, 0.5, 1.0}));
  EXPECT_EQ(curves.share.at("sum"), (std::vector<double>{0.5, 0.5, 0.5}));
  EXPECT_DOUBLE_EQ(curves.log_speedup.at("map"), 1.5);
  EXPECT_DOUBLE_EQ(curves.log_speedup.at("sum"), 0.2);
  EXPECT_TRUE(curves_of(digests, "c", best, at, 4).share.empty());
}

TEST(LearningCurves, MissesCountOneAndAHalfBudgets) {
  const std::map<std::string, double> best = {{"k1", 1.0}, {"k2", 1.0}, {"k3", 1.0}};
  const auto needed = [&](const std::vector<RunDigest>& digests, int budget) {
    return curves_of(digests, "a", best, {}, budget).evaluations_to_95.at("map");
  };
  const RunDigest nearly = run("k1", "map", "a", {0.1, 0.94, 0.951, 1.0});
  const RunDigest never = run("k2", "map", "a", {0.1, 0.2, 0.3, 0.94});
  EXPECT_DOUBLE_EQ(needed({nearly}, 4), 3.0);
  EXPECT_DOUBLE_EQ(needed({never}, 4), 6.0);
  EXPECT_DOUBLE_EQ(needed({nearly, never}, 4), 4.5);
  EXPECT_DOUBLE_EQ(needed({nearly}, 2), 3.0);  // found, but beyond the budget
  EXPECT_DOUBLE_EQ(needed({run("k3", "map", "a", {})}, 4), 6.0);
}

TEST(LearningCurves, KernelsWithNothingToFindAreLeftOut) {
  const std::vector<RunDigest> digests = {
      run("k1", "map", "a", {1.0}), run("flat", "map", "a", {0.0}), run("slow", "sum", "a", {0.1}),
      run("unknown", "sum", "a", {0.1})};
  const std::map<std::string, double> best = {{"k1", 1.0}, {"flat", 0.0}, {"slow", 0.1}};
  const int at[] = {1};
  const FamilyCurves curves = curves_of(digests, "a", best, at, 10);
  ASSERT_EQ(curves.share.size(), 1U);
  EXPECT_EQ(curves.share.at("map"), (std::vector<double>{1.0}));
  EXPECT_EQ(curves_of(digests, "a", best, at, 10, 1.05).share.size(), 2U);
}

// wilcox.test(d, exact = FALSE) of R gives these p, with its continuity correction.
TEST(PairedDifferences, AgreeWithWilcoxon) {
  EXPECT_NEAR(of_differences({1, 2, 3, 4, 5}).p, 0.05906, 1e-5);       // V 15, z 7 / sqrt(13.75)
  EXPECT_NEAR(of_differences({-5, -1, -3, -2, -4}).p, 0.05906, 1e-5);  // two-sided
  // Ranks 1.5 1.5 3 4: V = 3 + 4 + 1.5 = 8.5, variance 7.5 - 6 / 48 = 7.375, z = 3 / 2.7157.
  EXPECT_NEAR(of_differences({1, -1, 2, 3}).p, 0.26930, 1e-4);
  EXPECT_NEAR(of_differences({1, -1, 2, 3, 0, 0}).p, 0.26930, 1e-4);  // zeros are left out
  EXPECT_EQ(of_differences({1, -1}).p, 1.0);
  EXPECT_EQ(of_differences({0, 0, 0}).p, 1.0);
  EXPECT_EQ(of_differences({1}).p, 1.0);
}

TEST(PairedDifferences, AreOfFamiliesThatBothHave) {
  const PairedDifference difference =
      paired({{"a", 1.0}, {"b", 2.0}, {"c", 9.0}}, {{"a", 0.5}, {"b", 1.0}, {"d", 9.0}});
  EXPECT_EQ(difference.families, 2);
  EXPECT_DOUBLE_EQ(difference.mean, 0.75);
  EXPECT_EQ(paired({{"a", 1.0}}, {{"b", 1.0}}).families, 0);
  EXPECT_EQ(paired({}, {}).p, 1.0);
}

TEST(PairedDifferences, HaveAnIntervalByBootstrap) {
  const PairedDifference same = of_differences({0.5, 0.5, 0.5});
  EXPECT_EQ(same.low, 0.5);
  EXPECT_EQ(same.high, 0.5);
  std::vector<double> values;
  for (int at = 0; at < 100; ++at)
    values.push_back(at % 2 == 0 ? 1.0 : -1.0);
  const PairedDifference wide = of_differences(values);
  EXPECT_DOUBLE_EQ(wide.mean, 0.0);
  EXPECT_NEAR(wide.low, -0.196, 0.025);  // 1.96 / sqrt(100)
  EXPECT_NEAR(wide.high, 0.196, 0.025);
  const PairedDifference again = of_differences(values);
  EXPECT_EQ(again.low, wide.low);
  EXPECT_EQ(again.high, wide.high);
}

}  // namespace
}  // namespace regraph::learn::learning_curves_test
