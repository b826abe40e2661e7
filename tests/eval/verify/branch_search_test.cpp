#include "eval/verify/branch_search.h"

#include "eval/verify/verifier_test_support.h"

#include <algorithm>

namespace regraph::verify::branch_search_test {
namespace {

using test::compiled;
using test::pointer;
using test::problem_of;
using test::scalar;

Problem scaling() {
  return problem_of(
      "sizes: {n: 1000000}\nargs: {x: {shape: [n]}, y: {dir: out, shape: [n]}, a: "
      "2.5}\nlaunch: {block: 128, grid: \"cdiv(n, bx)\"}\ntests: [{n: 1001}]\n",
      {pointer("x", true), pointer("y", false), scalar("a", ScalarType::f32), scalar("n")});
}

LoadedPlan kernel(const std::string& body) {
  const LaunchPlan plan = scaling().launch;
  const auto one = compiled(
      "__global__ void k(const float* x, float* y, float a, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
      body + "\n}");
  auto made = load_plan(CompiledPlan::of(one, plan), plan);
  EXPECT_TRUE(made.ok());
  return *std::move(made);
}

// As if every comparison had gone one way.
BranchSearch search(const LoadedPlan& candidate, const LoadedPlan& original) {
  std::vector<UntakenBranch> branches = all_comparisons(candidate);
  for (UntakenBranch& one : branches)
    one.never = one.comparison.starts_with("setp.eq") || one.comparison.starts_with("setp.gt");
  return search_branches(scaling(), candidate, branches, numbers_of(original));
}

const char* const kPlain = "if (i < n) y[i] = a * x[i];";

TEST(BranchSearch, FindsSizesForRemainders) {
  const BranchSearch found =
      search(kernel("if (n % 11 == 5) return; if (i < n) y[i] = a * x[i];"), kernel(kPlain));
  ASSERT_FALSE(found.sizes.empty());
  EXPECT_TRUE(std::ranges::any_of(
      found.sizes, [](const BranchSize& one) { return one.symbols.at("n") % 11 == 5; }));
  EXPECT_TRUE(found.open.empty());
}

TEST(BranchSearch, FindsASizeThatIsNamed) {
  const BranchSearch found =
      search(kernel("if (n == 4321) return; if (i < n) y[i] = a * x[i];"), kernel(kPlain));
  EXPECT_TRUE(std::ranges::any_of(
      found.sizes, [](const BranchSize& one) { return one.symbols.at("n") == 4321; }));
}

TEST(BranchSearch, SaysWhichSizesAreTooLarge) {
  const BranchSearch found =
      search(kernel("if (n == 87654321) return; if (i < n) y[i] = a * x[i];"), kernel(kPlain));
  ASSERT_EQ(found.open.size(), 1U);
  EXPECT_TRUE(found.open[0].needs_large_size);
  EXPECT_NE(found.open[0].text().find("87654321"), std::string::npos) << found.open[0].text();
}

TEST(BranchSearch, PutsItsNumbersAmongTheInputs) {
  const BranchSearch found =
      search(kernel("if (i < n) y[i] = x[i] > 77.5f ? 0.0f : a * x[i];"), kernel(kPlain));
  ASSERT_FALSE(found.cases.empty());
  const auto has_number = [](const TestCase& one) {
    return std::ranges::find(one.sprinkled, 77.5) != one.sprinkled.end();
  };
  EXPECT_TRUE(std::ranges::any_of(found.cases, has_number));
  // Nothing proves that data can take it.
  ASSERT_EQ(found.open.size(), 1U);
  EXPECT_FALSE(found.open[0].needs_large_size);
}

TEST(BranchSearch, LeavesOpenWhatAsksForEqualityOfData) {
  const LoadedPlan plain = kernel(kPlain);
  const BranchSearch hashed = search(kernel("if (i < n) y[i] = (__float_as_uint(x[i]) * "
                                            "2654435761u >> 7 & 511) == 1 ? 0 : a * x[i];"),
                                     plain);
  EXPECT_EQ(hashed.open.size(), 1U);
  const BranchSearch asked = search(
      kernel("if (i < n) y[i] = __float_as_int(x[i]) == __float_as_int(a) ? 0 : a * x[i];"), plain);
  EXPECT_EQ(asked.open.size(), 1U);
  // A guard, and what the original asks, too.
  EXPECT_TRUE(search(kernel("if (i < n) y[i] = x[i] == 0 ? 0 : a / x[i];"), plain).open.empty());
  const LoadedPlan same =
      kernel("if (i < n) y[i] = __float_as_int(x[i]) == __float_as_int(a) ? 0 : a * x[i];");
  EXPECT_TRUE(search(same, same).open.empty());
}

TEST(BranchSearch, LeavesAloneWhatTheOriginalComparesWith) {
  const LoadedPlan clipped = kernel("if (i < n) y[i] = x[i] > 77.5f ? 77.5f : a * x[i];");
  const BranchSearch found = search(clipped, clipped);
  EXPECT_TRUE(found.open.empty());
}

}  // namespace
}  // namespace regraph::verify::branch_search_test
