#include "eval/verify/untaken_branches.h"

#include "eval/verify/kernel_run.h"
#include "eval/verify/verifier_test_support.h"

#include <algorithm>

namespace regraph::verify::untaken_branches_test {
namespace {

using test::compiled;
using test::pointer;
using test::problem_of;
using test::scalar;

TEST(UntakenBranches, AreThoseThatWentOneWay) {
  const Problem problem = problem_of(
      "sizes: {n: 1000}\nargs: {x: {shape: [n]}, y: {dir: out, shape: [n]}}\nlaunch: "
      "{block: 128, grid: \"cdiv(n, bx)\"}\ntests: [{n: 100}]\n",
      {pointer("x", true), pointer("y", false), scalar("n")});
  const auto kernel = compiled(R"cuda(
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] > 1234.5f ? 0.0f : x[i] > 0.0f ? 1.0f : 2.0f;
}
)cuda");
  const auto plan = load_plan(CompiledPlan::of(kernel, problem.launch), problem.launch);
  ASSERT_TRUE(plan.ok());
  Buffers inputs(3);
  inputs[0].resize(400);
  for (int i = 0; i < 100; ++i) {
    const float value = static_cast<float>(i) - 50.0f;
    std::memcpy(inputs[0].data() + 4 * i, &value, 4);
  }
  RunSettings settings;
  settings.record_paths = true;
  const auto run = run_kernel(problem, *plan, problem.tests[0], inputs, settings, Cancellation());
  ASSERT_TRUE(run.ok());
  PathSet taken;
  taken.add(run->profile);
  const std::vector<UntakenBranch> untaken = untaken_branches(*plan, taken);
  ASSERT_EQ(untaken.size(), 1U);
  EXPECT_EQ(untaken[0].real, 1234.5);
  EXPECT_EQ(untaken[0].source_line, 4);
  EXPECT_NE(untaken[0].text().find("line 4 of the source"), std::string::npos);
  // Once it is taken both ways, none is left.
  taken.add(other_ways(*plan, untaken));
  EXPECT_TRUE(untaken_branches(*plan, taken).empty());
}

}  // namespace
}  // namespace regraph::verify::untaken_branches_test
