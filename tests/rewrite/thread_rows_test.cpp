#include "rewrite/analysis/thread_rows.h"

#include "rewrite/step_checks.h"

namespace regraph::test::thread_rows_test {
namespace {

using rewrite::grid_for_rows;
using rewrite::require_thread_a_row;

std::string obstacle(const KernelCase& kernel) {
  const auto analysis = kernel.analysis(kernel.original());
  const Status status = require_thread_a_row(analysis, **analysis.launch());
  return status ? "" : status.error().message;
}

TEST(ThreadRows, AreKnownByTheirGlobalIndexAlongX) {
  for (const char* name : {"row_sums", "softmax_rows", "column_sums", "saxpy_return"})
    EXPECT_EQ(obstacle(*sample(name)), "") << name;
  EXPECT_NE(obstacle(*sample("sum_sequential_tree")).find("work together already"),
            std::string::npos);
  EXPECT_NE(obstacle(*sample("matmul_guard")).find("more than one axis"), std::string::npos);
  auto local = KernelCase::make(
      "__global__ void f(float* b, int n) {\n  if (blockIdx.x < n) b[threadIdx.x + 32 * "
      "blockIdx.x] = 1.0f;\n}",
      "sizes: {n: 4}\nargs: {b: {dir: out, shape: [128]}}\nlaunch: {block: 32, grid: 4}\ntests: "
      "[{n: 4}]\n");
  ASSERT_TRUE(local.ok()) << local.error().message;
  EXPECT_NE(obstacle(**local), "");
}

TEST(ThreadRows, GridHasABlockForEveryTeam) {
  const auto kernel = sample("row_sums");
  const auto analysis = kernel->analysis(kernel->original());
  const Launch& launch = **analysis.launch();
  const auto form = analysis.single_exit();
  ASSERT_TRUE(form.ok());
  const auto grid = grid_for_rows(**form, launch, 4);
  ASSERT_TRUE(grid.ok()) << grid.error().message;
  EXPECT_EQ(grid->text(), "cdiv(M, 4)");
  const auto odd = grid_for_rows(**form, launch, 48);
  ASSERT_FALSE(odd.ok());
  EXPECT_NE(odd.error().message.find("64 threads is no multiple"), std::string::npos);
}

// Where a grid is a number of blocks, each becomes several.
TEST(ThreadRows, AGridOfBlocksIsMultiplied) {
  auto kernel = KernelCase::make(
      "__global__ void f(const float* a, float* b, int m) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  float s = 0.0f;\n"
      "  for (int k = 0; k < m; ++k) s += a[i * m + k];\n  b[i] = s;\n}",
      "sizes: {blocks: 8, m: 64}\n"
      "args: {a: {dir: in, shape: ['64 * blocks', m]}, b: {dir: out, shape: ['64 * blocks']}}\n"
      "launch: {block: 64, grid: blocks}\ntests: [{blocks: 3, m: 45}, {blocks: 1, m: 1}]\n");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const auto state = expect_correct(
      **kernel, {{"cross_thread_reduction", {{"threads_per_row", "32"}, {"rows_per_block", "4"}}}});
  EXPECT_EQ(state.plan.launches[0].grid[0].text(), "16 * blocks");
}

}  // namespace
}  // namespace regraph::test::thread_rows_test
