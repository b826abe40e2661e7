// The same kernels on devices that allow less: what is offered follows the device's table.
#include "support/device_limits.h"

#include "rewrite/step_checks.h"

#include <gtest/gtest.h>

namespace regraph::test::device_limits_test {
namespace {

std::unique_ptr<KernelCase> sample_on(const std::string& name, const DeviceLimits& limits) {
  for (const SampleKernel& kernel : sample_kernels()) {
    if (kernel.name != name) continue;
    auto made = KernelCase::make(kernel.source, kernel.manifest, limits);
    EXPECT_TRUE(made.ok()) << made.error().message;
    return made.ok() ? std::move(*made) : nullptr;
  }
  return nullptr;
}

TEST(DeviceLimits, ResidentThreadsBoundLaunchBounds) {
  const std::vector<Application> steps = {{"block_size", {{"block", "512"}}},
                                          {"launch_bounds", {{"min_blocks", "4"}}}};
  const auto large = sample_on("saxpy_return", sm_90_limits());
  ASSERT_NE(large, nullptr);
  expect_correct(*large, steps);

  const auto small = sample_on("saxpy_return", sm_86_limits());
  ASSERT_NE(small, nullptr);
  const auto state = expect_correct(*small, {steps[0]});
  expect_refusal(*small, state, steps[1], "exceed the 1536 threads");
  EXPECT_TRUE(small->apply(state, "launch_bounds", {{"min_blocks", "3"}}).ok());
}

TEST(DeviceLimits, ResidentBlocksBoundLaunchBounds) {
  DeviceLimits limits = sm_86_limits();
  limits.max_blocks_per_multiprocessor = 2;
  const auto kernel = sample_on("saxpy_return", limits);
  ASSERT_NE(kernel, nullptr);
  EXPECT_TRUE(kernel->apply(kernel->original(), "launch_bounds", {{"min_blocks", "2"}}).ok());
  expect_refusal(*kernel, {"launch_bounds", {{"min_blocks", "3"}}}, "no more than 2 blocks");
}

TEST(DeviceLimits, ThreadsOfABlockBoundItsSize) {
  DeviceLimits limits = sm_86_limits();
  limits.max_threads_per_block = 512;
  const auto elements = sample_on("saxpy_return", limits);
  ASSERT_NE(elements, nullptr);
  EXPECT_TRUE(elements->apply(elements->original(), "block_size", {{"block", "512"}}).ok());
  expect_refusal(*elements, {"block_size", {{"block", "1024"}}}, "device's limit of 512");

  const auto rows = sample_on("softmax_rows", limits);
  ASSERT_NE(rows, nullptr);
  expect_refusal(*rows,
                 {"cross_thread_reduction", {{"threads_per_row", "1024"}, {"rows_per_block", "1"}}},
                 "");
}

TEST(DeviceLimits, SharedMemoryOfABlockBoundsTiles) {
  const Application tile = {"smem_tile", {{"depth", "32"}, {"loop", "1"}}};
  const auto roomy = sample_on("matmul_guard", sm_86_limits());
  ASSERT_NE(roomy, nullptr);
  expect_correct(*roomy, {tile});

  DeviceLimits limits = sm_86_limits();
  limits.shared_bytes_per_block = 2 << 10;  // the two tiles of 16 by 32 floats need 4 KiB
  const auto tight = sample_on("matmul_guard", limits);
  ASSERT_NE(tight, nullptr);
  expect_refusal(*tight, tile, "need 4096 bytes of the 2048");
  EXPECT_TRUE(tight->apply(tight->original(), "smem_tile", {{"depth", "16"}, {"loop", "1"}}).ok());
}

TEST(DeviceLimits, RegistersOfAThreadBoundMergedBlocks) {
  DeviceLimits limits = sm_86_limits();
  limits.max_registers_per_thread = 15;  // a quarter of 16: four copies
  const auto kernel = sample_on("matmul_guard", limits);
  ASSERT_NE(kernel, nullptr);
  EXPECT_TRUE(
      kernel->apply(kernel->original(), "thread_coarsen", {{"axis", "x"}, {"factor", "4"}}).ok());
  expect_refusal(*kernel, {"thread_coarsen", {{"axis", "x"}, {"factor", "8"}}},
                 "would need 8 registers");
}

// No step matches where it could not be applied, whatever the device.
TEST(DeviceLimits, WhatIsMatchedApplies) {
  DeviceLimits limits = sm_86_limits();
  limits.shared_bytes_per_block = 3 << 10;
  limits.max_threads_per_block = 256;
  for (const char* name : {"matmul_guard", "softmax_rows", "five_point_stencil", "histogram_global",
                           "sum_sequential_tree", "transpose_return"}) {
    const auto kernel = sample_on(name, limits);
    ASSERT_NE(kernel, nullptr) << name;
    const rewrite::KernelAnalysis analysis = kernel->analysis(kernel->original());
    int matched = 0;
    for (const rewrite::StepRewriter* step : rewrite::built_in_steps()) {
      for (const StepParameters& setting : step->settings()) {
        const bool matches = step->match(analysis, setting).ok();
        const auto applied = step->apply(analysis, setting);
        EXPECT_EQ(matches, applied.ok()) << name << ' ' << step->id();
        if (!applied) continue;
        ++matched;
        EXPECT_LE(applied->plan.launches.front().block.count(), 256u) << name << ' ' << step->id();
      }
    }
    EXPECT_GT(matched, 0) << name;
  }
}

}  // namespace
}  // namespace regraph::test::device_limits_test
