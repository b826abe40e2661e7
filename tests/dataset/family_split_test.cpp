#include "dataset/family_split.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

namespace regraph::dataset::family_split_test {
namespace {

score::RegisteredProblem problem_with(const std::string& family, const std::string& body) {
  score::RegisteredProblem problem;
  problem.family = family;
  problem.source =
      "__global__ void k(float* x, float* y, int n) {\n  int i = blockIdx.x * blockDim.x "
      "+ threadIdx.x;\n" +
      body + "}\n";
  return problem;
}

// A body of functions that no other number has.
std::string body_of(int kind) {
  const char* const functions[] = {"sqrtf", "expf",  "logf",   "sinf",  "cosf",
                                   "tanhf", "fabsf", "floorf", "ceilf", "rsqrtf"};
  const std::string own = functions[kind];
  std::string body;
  for (int line = 0; line < 6; ++line)
    body += fmt::format("  y[i] = {0}({0}(x[i]) + {0}(y[{0}(n)]));\n", own);
  return body;
}

std::vector<score::RegisteredProblem> ten_families() {
  std::vector<score::RegisteredProblem> problems;
  problems.reserve(10);
  for (int kind = 0; kind < 10; ++kind)
    problems.push_back(problem_with("family" + std::to_string(kind), body_of(kind)));
  return problems;
}

TEST(FamilySplit, EachSplitHasItsShare) {
  const auto splits = split_families(ten_families(), 1);
  std::map<std::string, int> counts;
  for (const auto& [family, split] : splits)
    ++counts[split];
  EXPECT_EQ(splits.size(), 10U);
  EXPECT_GE(counts[kTest], 1);
  EXPECT_GE(counts[kValidation], 1);
  EXPECT_GE(counts[kTrain], 5);
}

TEST(FamilySplit, MoreKernelsMoveNothing) {
  auto problems = ten_families();
  const auto before = split_families(problems, 7);
  problems.push_back(problem_with("family3", body_of(3) + "  y[0] = 1.0f;\n"));
  EXPECT_EQ(split_families(problems, 7), before);
}

TEST(FamilySplit, AnotherSeedDividesOtherwise) {
  std::set<std::map<std::string, std::string>> seen;
  for (std::uint64_t seed = 1; seed <= 8; ++seed)
    seen.insert(split_families(ten_families(), seed));
  EXPECT_GT(seen.size(), 3U);
}

TEST(FamilySplit, FamiliesWithTheSameKernelStayTogether) {
  auto problems = ten_families();
  problems.push_back(problem_with("twin", body_of(4)));
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto splits = split_families(problems, seed);
    EXPECT_EQ(splits.at("twin"), splits.at("family4"));
  }
}

TEST(FamilySplit, TwoFamiliesAreForTraining) {
  const auto splits =
      split_families({problem_with("a", body_of(1)), problem_with("b", body_of(2))}, 1);
  for (const auto& [family, split] : splits)
    EXPECT_EQ(split, kTrain);
}

}  // namespace
}  // namespace regraph::dataset::family_split_test
