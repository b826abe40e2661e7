#include "eval/gpu/timing/speed_of_light.h"

#include <gtest/gtest.h>

#include <limits>

namespace regraph::gpu::speed_of_light_test {
namespace {

constexpr DeviceCeilings kH200 = {4.248e12, 66.9e12, 60.0 * (1 << 20)};

TEST(SpeedOfLight, TheLargerOfTrafficAndArithmetic) {
  const CompulsoryWork copy = {1e9, 1e9, 0.0};
  EXPECT_NEAR(speed_of_light_seconds(copy, kH200), (2e9 - kH200.l2_bytes) / 4.248e12, 1e-9);
  const CompulsoryWork product = {1.3e8, 6.7e7, 137.4e9};
  EXPECT_NEAR(speed_of_light_seconds(product, kH200), 137.4e9 / 66.9e12, 1e-9);
  EXPECT_EQ(speed_of_light_seconds({}, kH200), 0.0);
  EXPECT_EQ(speed_of_light_seconds(copy, {}), 0.0);
}

// What PyTorch's kernels took on an H200 must pass; half of it must not.
TEST(SpeedOfLight, RealTimesPass) {
  const double floats = 268435456.0;
  const double copy_seconds = 8.0 * floats / 4.248e12;
  const CompulsoryWork copy = {4 * floats, 4 * floats, 0.0};
  EXPECT_EQ(check_speed_of_light(copy_seconds, copy_seconds, copy, kH200).plausibility,
            Plausibility::plausible);
  const double add_seconds = 12.0 * floats / 4.349e12;
  const CompulsoryWork add = {8 * floats, 4 * floats, floats};
  EXPECT_EQ(check_speed_of_light(add_seconds, add_seconds, add, kH200).plausibility,
            Plausibility::plausible);
  const SpeedOfLightCheck check = check_speed_of_light(copy_seconds / 2, copy_seconds, copy, kH200);
  EXPECT_EQ(check.plausibility, Plausibility::impossible);
  EXPECT_NE(check.message.find("impossible"), std::string::npos);
}

// Output that fits into the L2 need not reach DRAM before the kernel ends.
TEST(SpeedOfLight, SmallOutputsMayStayInTheL2) {
  const CompulsoryWork fill = {0.0, 50e6, 0.0};
  EXPECT_EQ(check_speed_of_light(5e-6, 6e-6, fill, kH200).plausibility, Plausibility::plausible);
}

TEST(SpeedOfLight, LargeGainsAreSetAside) {
  EXPECT_EQ(check_speed_of_light(1e-3, 9.9e-3, {}, kH200).plausibility, Plausibility::plausible);
  const SpeedOfLightCheck check = check_speed_of_light(1e-3, 10.1e-3, {}, kH200);
  EXPECT_EQ(check.plausibility, Plausibility::quarantine);
  EXPECT_NEAR(check.speedup, 10.1, 1e-9);
}

TEST(SpeedOfLight, NoTimeIsImpossible) {
  for (const double seconds : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(),
                               std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(check_speed_of_light(seconds, 1.0, {}, kH200).plausibility, Plausibility::impossible);
  }
}

}  // namespace
}  // namespace regraph::gpu::speed_of_light_test
