#include "kernel/launch_plan.h"

#include <gtest/gtest.h>

namespace regraph::launch_plan_test {
namespace {

Launch sample() {
  Launch launch;
  launch.kernel = "sgemm";
  launch.block = {16, 8, 1};
  launch.grid = {*IntegerExpression::parse("cdiv(N, bx)"), *IntegerExpression::parse("cdiv(M, by)"),
                 1};
  launch.dynamic_shared_bytes = *IntegerExpression::parse("4 * bx * by");
  return launch;
}

TEST(LaunchPlan, ConcretisesForASize) {
  const auto concrete = concretise(sample(), {{"M", 50}, {"N", 70}});
  ASSERT_TRUE(concrete.ok()) << concrete.error().message;
  EXPECT_EQ(concrete->grid, (Dim3{5, 7, 1}));
  EXPECT_EQ(concrete->block, (Dim3{16, 8, 1}));
  EXPECT_EQ(concrete->dynamic_shared_bytes, 512u);
  EXPECT_EQ(concrete->kernel, "sgemm");
}

TEST(LaunchPlan, RefusesWhatCudaRefuses) {
  const Symbols sizes = {{"M", 50}, {"N", 70}};
  Launch launch = sample();
  launch.block = {1024, 2, 1};
  EXPECT_FALSE(concretise(launch, sizes).ok());
  launch.block = {1, 1, 65};
  EXPECT_FALSE(concretise(launch, sizes).ok());
  launch.block = {0, 1, 1};
  EXPECT_FALSE(concretise(launch, sizes).ok());

  launch = sample();
  launch.grid[1] = 65536;
  EXPECT_FALSE(concretise(launch, sizes).ok());
  launch.grid[1] = 65535;
  EXPECT_TRUE(concretise(launch, sizes).ok());
  launch.grid[0] = 0;
  EXPECT_FALSE(concretise(launch, sizes).ok());
  launch.grid[0] = std::int64_t{1} << 31;
  EXPECT_FALSE(concretise(launch, sizes).ok());

  const auto unknown = concretise(sample(), {{"M", 50}});
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().code, ErrorCode::not_found);
  EXPECT_NE(unknown.error().message.find("grid.x"), std::string::npos) << unknown.error().message;
  EXPECT_NE(unknown.error().message.find("'N'"), std::string::npos) << unknown.error().message;

  launch = sample();
  launch.dynamic_shared_bytes = -4;
  EXPECT_FALSE(concretise(launch, sizes).ok());
}

TEST(LaunchPlan, ABlockMayFollowTheSizes) {
  Launch launch = sample();
  launch.block = {64, 2, 1};
  launch.block_of_sizes = BlockOfSizes{{*IntegerExpression::parse("N"), 2, 1}, {64, 2, 1}};
  ASSERT_TRUE(launch.block_follows_sizes());
  auto concrete = concretise(launch, {{"M", 50}, {"N", 96}});
  ASSERT_TRUE(concrete.ok()) << concrete.error().message;
  EXPECT_EQ(concrete->block, (Dim3{96, 2, 1}));
  EXPECT_EQ(concrete->grid, (Dim3{1, 25, 1}));
  EXPECT_EQ(concrete->dynamic_shared_bytes, 4u * 96 * 2);
  const auto large = concretise(launch, {{"M", 50}, {"N", 513}});
  ASSERT_FALSE(large.ok());
  EXPECT_NE(large.error().message.find("513 (N) x 2 x 1 threads at {M: 50, N: 513}"),
            std::string::npos)
      << large.error().message;
  EXPECT_FALSE(concretise(launch, {{"M", 50}, {"N", std::int64_t{1} << 60}}).ok());
  EXPECT_FALSE(concretise(launch, {{"M", 50}, {"N", 0}}).ok());
  EXPECT_FALSE(concretise(launch, {{"M", 50}}).ok());
  // Plans tell it apart from the same block, fixed; whoever sets another one fixes it.
  Launch fixed = launch;
  fixed.block_of_sizes.reset();
  EXPECT_NE(LaunchPlan{{launch}}.text(), LaunchPlan{{fixed}}.text());
  launch.block = {32, 2, 1};
  EXPECT_FALSE(launch.block_follows_sizes());
  concrete = concretise(launch, {{"M", 50}, {"N", 96}});
  ASSERT_TRUE(concrete.ok()) << concrete.error().message;
  EXPECT_EQ(concrete->block, (Dim3{32, 2, 1}));
}

TEST(LaunchPlan, TextTellsPlansApart) {
  LaunchPlan a{{sample()}};
  LaunchPlan b = a;
  EXPECT_EQ(a.text(), b.text());
  EXPECT_EQ(a, b);
  b.launches[0].block.y = 16;
  EXPECT_NE(a.text(), b.text());
  EXPECT_EQ(a.text(),
            "sgemm grid(cdiv(N, bx), cdiv(M, by), 1) block(16, 8, 1) smem(4 * bx * by)\n");
}

}  // namespace
}  // namespace regraph::launch_plan_test
