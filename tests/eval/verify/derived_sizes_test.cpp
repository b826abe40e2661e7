// Sizes that nobody gave are dropped where the original cannot take them; those of the user's are
// not.
#include "eval/verify/verifier_test_support.h"

#include <string>

namespace regraph::derived_sizes_test {
namespace {

using test::compiled;
using test::kSeed;
using test::pointer;
using test::problem_of;
using test::scalar;

Problem copying(const std::string& rest) {
  return problem_of(
      "sizes: {n: 4096}\nargs: {x: {shape: [n]}, y: {dir: out, shape: [n]}}\n"
      "launch: {block: 32, grid: [\"cdiv(n, bx)\"]}\n" +
          rest,
      {pointer("x", true), pointer("y", false), scalar("n")});
}

std::string kernel(const std::string& guard, const std::string& value) {
  return "__global__ void k(const float* x, float* y, int n) {\n"
         "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  " +
         guard + "y[i] = " + value + ";\n}\n";
}

TEST(DerivedSizes, ThatTheOriginalCannotTakeAreDropped) {
  const Problem problem = copying("");
  ASSERT_TRUE(problem.tests_are_derived);
  ASSERT_EQ(problem.tests.size(), 3U);  // 1021, 4096, 1
  Verifier verifier(problem, compiled(kernel("", "x[i]")));
  const Cancellation never;
  const auto warnings = verifier.check_original(kSeed, never);
  ASSERT_TRUE(warnings.ok()) << warnings.error().message;
  bool told = false;
  for (const std::string& warning : *warnings)
    told = told || warning.find("left out") != std::string::npos;
  EXPECT_TRUE(told);
  EXPECT_EQ(verifier.sizes_left_out(kSeed, never),
            (std::vector<Symbols>{{{"n", 1}}, {{"n", 1021}}}));
  EXPECT_TRUE(
      verifier.verify(compiled(kernel("", "x[i]")), problem.launch, kSeed, never).correct());
  EXPECT_EQ(
      verifier.verify(compiled(kernel("", "x[i] + 1.0f")), problem.launch, kSeed, never).verdict,
      Verdict::wrong_result);
}

TEST(DerivedSizes, ThoseOfTheUserAreErrors) {
  Verifier verifier(copying("tests: [{n: 1021}]\n"), compiled(kernel("", "x[i]")));
  const Cancellation never;
  const auto checked = verifier.check_original(kSeed, never);
  ASSERT_FALSE(checked.ok());
  EXPECT_NE(checked.error().message.find("fails with {n: 1021}"), std::string::npos)
      << checked.error().message;
}

TEST(DerivedSizes, AnOriginalThatFailsEverywhereIsNone) {
  Verifier verifier(copying(""), compiled(kernel("if (i < n) ", "x[i + n]")));
  const Cancellation never;
  const auto checked = verifier.check_original(kSeed, never);
  ASSERT_FALSE(checked.ok());
  EXPECT_NE(checked.error().message.find("fails with {n: 1}"), std::string::npos)
      << checked.error().message;
}

TEST(DerivedSizes, RacesAreNoReason) {
  Verifier verifier(copying(""), compiled("__global__ void k(const float* x, float* y, int n) {\n"
                                          "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                          "  if (i < n) { y[i] = x[i]; y[0] = x[i]; }\n}\n"));
  const Cancellation never;
  EXPECT_FALSE(verifier.check_original(kSeed, never).ok());
}

// A size that the source fixes, too large to be a test: the bench size in sampled blocks.
TEST(DerivedSizes, TheOnlyOneIsComparedInBoundedTime) {
  const Problem problem = problem_of(
      "args: {x: {shape: [1048576]}, y: {dir: out, shape: [1048576]}}\n"
      "launch: {block: 256, grid: 4096}\n",
      {pointer("x", true), pointer("y", false)});
  const auto slow = [](const std::string& value) {
    return "__global__ void k(const float* x, float* y) {\n"
           "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  float s = 0.0f;\n"
           "  for (int j = 0; j < 1024; ++j) s += x[(i + 1024 * j) % 1048576];\n  y[i] = " +
           value + ";\n}\n";
  };
  Verifier verifier(problem, compiled(slow("s")));
  const Cancellation never;
  const auto warnings = verifier.check_original(kSeed, never);
  ASSERT_TRUE(warnings.ok()) << warnings.error().message;
  ASSERT_EQ(warnings->size(), 1U);
  EXPECT_NE(warnings->front().find("at the bench size alone"), std::string::npos);
}

}  // namespace
}  // namespace regraph::derived_sizes_test
