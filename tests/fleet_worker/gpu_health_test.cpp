#include "fleet_worker/gpu_health.h"

#include <gtest/gtest.h>

#include <string>

namespace regraph::fleet::gpu_health_test {
namespace {

TEST(GpuHealth, IsProbedWhereItIsSuspected) {
  int probes = 0;
  Status state;
  GpuHealth health(
      [&] {
        ++probes;
        return state;
      },
      [] { return std::string(); });
  EXPECT_EQ(health.trouble(false), "");
  EXPECT_EQ(probes, 0);
  EXPECT_EQ(health.trouble(true), "");
  state = fail(ErrorCode::resource, "Xid 79");
  EXPECT_EQ(health.trouble(true), "its GPU cannot be used: Xid 79");
  EXPECT_EQ(probes, 2);
}

TEST(GpuHealth, AMomentsHeatIsNoTrouble) {
  std::string slowed;
  GpuHealth health([] { return Status(); }, [&] { return slowed; });
  slowed = "hardware thermal slowdown";
  EXPECT_EQ(health.trouble(false), "");
  EXPECT_EQ(health.trouble(false), "");
  slowed.clear();
  EXPECT_EQ(health.trouble(false), "");
  slowed = "hardware thermal slowdown";
  EXPECT_EQ(health.trouble(false), "");
  EXPECT_EQ(health.trouble(false), "");
  EXPECT_EQ(health.trouble(false),
            "the clocks of its GPU are held down by hardware thermal slowdown");
}

}  // namespace
}  // namespace regraph::fleet::gpu_health_test
