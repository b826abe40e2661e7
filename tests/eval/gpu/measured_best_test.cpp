#include "eval/gpu/timing/measured_best.h"

#include <gtest/gtest.h>

namespace regraph::gpu::measured_best_test {
namespace {

std::shared_ptr<const PreparedCandidate> kernel() {
  return std::make_shared<PreparedCandidate>();
}

TEST(MeasuredBest, TheFastestStays) {
  MeasuredBest best;
  EXPECT_EQ(best.kernel(), nullptr);
  const auto slow = kernel();
  const auto fast = kernel();
  EXPECT_TRUE(best.offer(slow, 2.0, 2.0));
  EXPECT_TRUE(best.offer(fast, 1.0, 1.0));
  EXPECT_FALSE(best.offer(slow, 2.0, 2.0));
  EXPECT_FALSE(best.offer(kernel(), 1.0, 1.0)) << "as fast is not faster";
  EXPECT_EQ(best.kernel(), fast);
}

TEST(MeasuredBest, PredictionsFarBehindAreCorrectedByWhatWasMeasured) {
  MeasuredBest best;
  EXPECT_FALSE(best.corrected_if_behind(100.0, 0.0, 1.4)) << "nothing is known yet";
  best.offer(kernel(), 1.0, 1.5);
  EXPECT_FALSE(best.corrected_if_behind(1.4, 0.0, 1.4));
  ASSERT_TRUE(best.corrected_if_behind(1.5, 0.0, 1.4));
  EXPECT_DOUBLE_EQ(*best.corrected_if_behind(1.5, 0.0, 1.4), 2.25);
}

// A family of kernels that the model takes for slower than it is must not be left untimed, and one
// that it takes for faster must not look better than it is.
TEST(MeasuredBest, TheNearestRelativesCorrectionComesFirst) {
  MeasuredBest best;
  best.offer(kernel(), 1.0, 1.0);
  EXPECT_FALSE(best.corrected_if_behind(2.0, 0.5, 1.4)) << "1.0 s is not behind";
  ASSERT_TRUE(best.corrected_if_behind(1.2, 2.0, 1.4));
  EXPECT_DOUBLE_EQ(*best.corrected_if_behind(1.2, 2.0, 1.4), 2.4);
}

// One that the model has no time for is the best, but nothing can be scaled by it.
TEST(MeasuredBest, WithoutAPredictionTheScaleStays) {
  MeasuredBest best;
  best.offer(kernel(), 2.0, 3.0);
  const auto unknown = kernel();
  EXPECT_TRUE(best.offer(unknown, 0.0, 1.0));
  EXPECT_EQ(best.kernel(), unknown);
  ASSERT_TRUE(best.corrected_if_behind(4.0, 0.0, 1.4));
  EXPECT_DOUBLE_EQ(*best.corrected_if_behind(4.0, 0.0, 1.4), 6.0);
}

TEST(MeasuredBest, WhatIsWithdrawnPrunesNothing) {
  MeasuredBest best;
  const auto cheat = kernel();
  best.offer(kernel(), 2.0, 2.0);
  best.offer(cheat, 0.1, 0.1);
  best.withdraw(cheat);
  EXPECT_EQ(best.kernel(), nullptr);
  EXPECT_FALSE(best.corrected_if_behind(2.0, 0.0, 1.4));
  const auto honest = kernel();
  EXPECT_TRUE(best.offer(honest, 1.5, 1.5));
  best.withdraw(cheat);
  EXPECT_EQ(best.kernel(), honest);
}

}  // namespace
}  // namespace regraph::gpu::measured_best_test
