#include "eval/model/machine_path.h"

#include "eval/model/model_test_support.h"

#include <gtest/gtest.h>

namespace regraph::machine_path_test {
namespace {

const LoadLatency kNoLatency = {};

double clocks(const std::string& body, int rounds, const LoadLatency& latency = kNoLatency) {
  const Problem problem = test::problem_of(
      "sizes: {n: 4096, rounds: " + std::to_string(rounds) + R"yaml(}
args: {in: {shape: [n]}, out: {dir: out, shape: [n]}}
launch: {block: 128, grid: "cdiv(n, bx)"}
tests: [{n: 128}]
)yaml",
      {test::input("in"), test::output("out"), test::number("n"), test::number("rounds")});
  const test::SampledKernel kernel(
      problem,
      "__global__ void k(const float* in, float* out, int n, int rounds) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
          body + "\n}\n");
  const auto counts =
      sass::count_executions(kernel.code(), kernel.program(), kernel.sample().profile);
  return machine_path_clocks(kernel.code(), counts, test::device("h200"), latency);
}

TEST(MachinePath, ADependentChainTakesItsLatencyAndIndependentWorkOnlyItsSlots) {
  const char* const chain =
      "float x = i;\n#pragma unroll 16\n"
      "for (int r = 0; r < rounds; ++r) x = x * 1.5f + 2.0f;\nout[i] = x;";
  const char* const four =
      "float a = i, b = i + 1, c = i + 2, d = i + 3;\n#pragma unroll 16\n"
      "for (int r = 0; r < rounds; ++r) {\n  a = a * 1.5f + 2.0f; b = b * 1.5f + 2.0f;\n"
      "  c = c * 1.5f + 2.0f; d = d * 1.5f + 2.0f;\n}\nout[i] = a + b + c + d;";
  const double by_chain = (clocks(chain, 4096) - clocks(chain, 2048)) / 2048.0;
  const double by_four = (clocks(four, 4096) - clocks(four, 2048)) / 2048.0;
  // 4 clocks a multiply-add, and some for the loop; four at a time take hardly more.
  EXPECT_GE(by_chain, 4.0);
  EXPECT_LT(by_chain, 5.5);
  EXPECT_LT(by_four, 1.5 * by_chain);
}

TEST(MachinePath, ALoadIsWaitedForWhereItsValueIsUsed) {
  const LoadLatency slow = {1000.0, {}};
  const auto added = [&](const char* body, int rounds) {
    return clocks(body, rounds, slow) - clocks(body, rounds);
  };
  EXPECT_NEAR(added("out[i] = in[i] + 1.0f;", 1), 1000.0, 30.0);
  EXPECT_NEAR(added("out[i] = in[i] + in[n - 1 - i];", 1), 1000.0, 40.0);
  EXPECT_NEAR(added("out[i] = in[((int)in[i]) & 127];", 1), 2000.0, 60.0);
  const char* const chase =
      "float x = i;\n#pragma unroll 1\n"
      "for (int r = 0; r < rounds; ++r) x = in[((int)x) & 127] + r;\n"
      "out[i] = x;";
  EXPECT_NEAR(added(chase, 100), 100 * 1000.0, 5000.0);
}

TEST(MachinePath, SingleLoadsHaveTheirOwnLatency) {
  LoadLatency latency = {0.0, std::vector<double>(10000, 500.0)};
  EXPECT_NEAR(clocks("out[i] = in[i] + 1.0f;", 1, latency) - clocks("out[i] = in[i] + 1.0f;", 1),
              500.0, 30.0);
}

// A load that ptxas moved ahead of the arithmetic is not waited for in full.
TEST(MachinePath, TheCompilersScheduleHidesLatency) {
  const char* const body =
      "float x = i, y = 0.0f;\n#pragma unroll 1\nfor (int r = 0; r < rounds; ++r) {\n"
      "  const float a = in[(r * 128 + i) & 4095];\n"
      "  #pragma unroll\n  for (int j = 0; j < 64; ++j) x = x * 1.5f + 2.0f;\n"
      "  y += a;\n}\nout[i] = x + y;";
  const double none = clocks(body, 100);
  const double some = clocks(body, 100, {200.0, {}});
  EXPECT_LT(some - none, 100 * 60.0);
  EXPECT_GT(clocks(body, 100, {2000.0, {}}) - none, 100 * 1000.0);
}

TEST(MachinePath, CountsOfAnotherKernelGiveNothing) {
  const test::SampledKernel kernel(test::copy_problem(), test::kCopy);
  EXPECT_EQ(machine_path_clocks(kernel.code(), {}, test::device("h200"), kNoLatency), 0.0);
}

}  // namespace
}  // namespace regraph::machine_path_test
