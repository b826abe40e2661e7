#include "eval/model/device.h"

#include <gtest/gtest.h>

#include <set>

namespace regraph::device_test {
namespace {

TEST(Device, IsFoundByNameAndArchitectureInAnyCase) {
  for (const DeviceSpec& device : known_devices()) {
    const auto found = find_device(device.name);
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(found->name, device.name);
  }
  EXPECT_EQ(find_device("H200")->name, "h200");
  EXPECT_EQ(find_device("SM_80")->name, "a100");
  EXPECT_EQ(find_device("sm_90")->architecture, "sm_90");
}

TEST(Device, UnknownNamesAreAnsweredWithTheKnownOnes) {
  for (const char* name : {"", "h20", "h2000", "sm_", "sm_9"}) {
    const auto found = find_device(name);
    ASSERT_FALSE(found.ok()) << name;
    EXPECT_EQ(found.error().code, ErrorCode::not_found);
    for (const DeviceSpec& device : known_devices()) {
      EXPECT_NE(found.error().message.find(device.name), std::string::npos)
          << found.error().message;
    }
  }
}

TEST(Device, LimitsAreThoseOfTheTable) {
  DeviceSpec device = *find_device("h200");
  DeviceLimits limits = limits_of(device);
  EXPECT_EQ(limits.architecture, "sm_90");
  EXPECT_EQ(limits.max_threads_per_multiprocessor, 2048);
  EXPECT_EQ(limits.max_threads_per_block, 1024);
  EXPECT_EQ(limits.shared_bytes_per_block, 48 << 10);
  EXPECT_EQ(limits.shared_bytes_per_block_opt_in, 227 << 10);
  EXPECT_EQ(limits.shared_bytes_per_multiprocessor, 228 << 10);
  EXPECT_EQ(limits.registers_per_multiprocessor, 65536);
  // As a file with numbers of another device may say.
  device.architecture = "sm_86";
  device.max_warps = 48;
  device.max_blocks = 16;
  device.shared_bytes = 100 << 10;
  device.shared_bytes_per_block = 99 << 10;
  limits = limits_of(device);
  EXPECT_EQ(limits.architecture, "sm_86");
  EXPECT_EQ(limits.max_threads_per_multiprocessor, 1536);
  EXPECT_EQ(limits.max_blocks_per_multiprocessor, 16);
  EXPECT_EQ(limits.shared_bytes_per_block_opt_in, 99 << 10);
  EXPECT_EQ(limits.shared_bytes_per_multiprocessor, 100 << 10);
}

TEST(Device, TheComputeCapabilityIsThatOfTheArchitecture) {
  EXPECT_EQ(compute_capability(*find_device("a100")), 8.0);
  EXPECT_EQ(compute_capability(*find_device("h200")), 9.0);
  DeviceSpec device;
  EXPECT_EQ(compute_capability(device), std::nullopt);
  device.architecture = "sm_89";
  EXPECT_EQ(compute_capability(device), 8.9);
  device.architecture = "sm_120f";
  EXPECT_EQ(compute_capability(device), 12.0);
}

TEST(Device, NumbersArePlausible) {
  std::set<std::string_view> names;
  for (const DeviceSpec& d : known_devices()) {
    SCOPED_TRACE(d.name);
    EXPECT_TRUE(names.insert(d.name).second);
    EXPECT_LT(d.shared_bytes_per_block, d.shared_bytes);
    EXPECT_LT(d.shared_bytes, d.unified_bytes);
    EXPECT_LT(d.dram_bytes_per_second, d.peak_dram_bytes_per_second);
    EXPECT_GT(d.l2_bytes_per_second, d.dram_bytes_per_second);
    EXPECT_LE(d.l2_full_speed_bytes, d.l2_bytes);
    EXPECT_LT(d.arithmetic_latency, d.shared_latency);
    EXPECT_LE(d.shared_latency, d.l1_latency);
    EXPECT_LT(d.l1_latency, d.l2_latency);
    EXPECT_LT(d.l2_latency, d.dram_latency);
    // A block of 64 threads on each SM takes some hundred clocks.
    EXPECT_NEAR(d.sm_count * d.clock_hertz / d.blocks_per_second, 150.0, 40.0);
  }
  // 132 SMs of 128 lanes at 1.98 GHz.
  EXPECT_NEAR(find_device("h200")->peak_fp32_flops(), 66.9e12, 0.1e12);
}

}  // namespace
}  // namespace regraph::device_test
