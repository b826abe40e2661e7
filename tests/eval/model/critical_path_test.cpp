#include "eval/model/critical_path.h"

#include "eval/model/model_test_support.h"

#include <gtest/gtest.h>

namespace regraph::critical_path_test {
namespace {

constexpr LoadLatency kNoLatency = {0.0};

Problem chain_problem(int rounds, int flag = 0) {
  return test::problem_of("sizes: {n: 4096, rounds: " + std::to_string(rounds) +
                              ", flag: " + std::to_string(flag) + R"yaml(}
args: {in: {shape: [n]}, out: {dir: out, shape: [n]}}
launch: {block: 128, grid: "cdiv(n, bx)"}
tests: [{n: 128}]
)yaml",
                          {test::input("in"), test::output("out"), test::number("n"),
                           test::number("rounds"), test::number("flag")});
}

double clocks(const Problem& problem, const std::string& body, LoadLatency latency = kNoLatency) {
  const test::SampledKernel kernel(
      problem,
      "__global__ void k(const float* in, float* out, int n, int rounds, int flag) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
          body + "\n}\n");
  return critical_path_clocks(kernel.program(), kernel.sample().profile, test::device("h200"),
                              latency);
}

std::string repeated(const std::string& text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i)
    result += text;
  return result;
}

TEST(CriticalPath, ADependentChainTakesItsLatencyAndIndependentWorkOnlyItsSlots) {
  const Problem problem = chain_problem(1);
  const double chain =
      clocks(problem, "float x = i;" + repeated("x = x * 1.5f + 2.0f;", 64) + "out[i] = x;");
  const double four = clocks(problem, "float a = i, b = i + 1, c = i + 2, d = i + 3;" +
                                          repeated("a = a * 1.5f + 2.0f; b = b * 1.5f + 2.0f;"
                                                   "c = c * 1.5f + 2.0f; d = d * 1.5f + 2.0f;",
                                                   16) +
                                          "out[i] = a + b + c + d;");
  // 64 multiply-adds each: 4 clocks one after another, or 1 clock in four chains.
  EXPECT_GT(chain, 64 * 4.0);
  EXPECT_LT(chain, 64 * 4.0 + 60.0);
  EXPECT_GT(four, 64.0);
  EXPECT_LT(four, 64.0 + 80.0);
}

TEST(CriticalPath, ALoopCountsAsOftenAsItRan) {
  const std::string body =
      "float x = i;\n#pragma unroll 1\nfor (int r = 0; r < rounds; ++r) x = x * 1.5f + 2.0f;\n"
      "out[i] = x;";
  const double thousand = clocks(chain_problem(1000), body);
  const double two_thousand = clocks(chain_problem(2000), body);
  const double per_round = (two_thousand - thousand) / 1000.0;
  EXPECT_GE(per_round, 4.0);  // the multiply-add waits for itself
  EXPECT_LT(per_round, 16.0);
  EXPECT_NEAR(thousand, 1000.0 * per_round, 100.0);
}

TEST(CriticalPath, ALoadIsWaitedForWhereItsValueIsUsed) {
  const Problem problem = chain_problem(4);
  const LoadLatency slow = {1000.0};
  const std::string used_at_once = "out[i] = in[i] + 1.0f;";
  EXPECT_NEAR(clocks(problem, used_at_once, slow) - clocks(problem, used_at_once), 1000.0, 1.0);
  // Loaded before a loop, used in it.
  const std::string used_in_loop =
      "float a = in[i], x = i;\n#pragma unroll 1\n"
      "for (int r = 0; r < rounds; ++r) x = x * a + 2.0f;\nout[i] = x;";
  EXPECT_NEAR(clocks(problem, used_in_loop, slow) - clocks(problem, used_in_loop), 1000.0, 50.0);
  // Two loads on the way at once cost no more than one, two that depend cost twice.
  const std::string together = "out[i] = in[i] + in[n - 1 - i];";
  EXPECT_NEAR(clocks(problem, together, slow) - clocks(problem, together), 1000.0, 10.0);
  const std::string dependent = "out[i] = in[((int)in[i]) & 127];";
  EXPECT_NEAR(clocks(problem, dependent, slow) - clocks(problem, dependent), 2000.0, 10.0);
}

TEST(CriticalPath, ALoadInALoopIsPaidInEveryRound) {
  const std::string body =
      "float x = i;\n#pragma unroll 1\n"
      "for (int r = 0; r < rounds; ++r) x = in[((int)x) & 127] + r;\nout[i] = x;";
  const double with = clocks(chain_problem(100), body, {500.0});
  const double without = clocks(chain_problem(100), body);
  EXPECT_NEAR(with - without, 100 * 500.0, 2500.0);
}

TEST(CriticalPath, CodeThatDidNotRunCostsNothing) {
  const std::string body = "float x = i;\nif (flag != 0) {" +
                           repeated("x = x * 1.5f + in[i & 63];", 100) + "}\nout[i] = x;";
  const double skipped = clocks(chain_problem(1, 0), body);
  const double taken = clocks(chain_problem(1, 1), body);
  EXPECT_LT(skipped, 100.0);
  EXPECT_GT(taken, skipped + 400.0);
}

TEST(CriticalPath, AProfileOfAnotherKernelGivesNothing) {
  const Problem problem = test::copy_problem();
  const test::SampledKernel kernel(problem, test::kCopy);
  EXPECT_EQ(critical_path_clocks(kernel.program(), {}, test::device("h200"), kNoLatency), 0.0);
  ptx::Profile shorter = kernel.sample().profile;
  shorter.instructions.pop_back();
  EXPECT_EQ(critical_path_clocks(kernel.program(), shorter, test::device("h200"), kNoLatency), 0.0);
}

}  // namespace
}  // namespace regraph::critical_path_test
