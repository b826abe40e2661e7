#include "eval/model/device.h"

#include "eval/model/device_table.h"

#include <gtest/gtest.h>

#include <iterator>
#include <set>
#include <string_view>

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
  EXPECT_EQ(find_device("RTX 4090")->name, "rtx4090");
  EXPECT_EQ(find_device("rtx-pro-6000")->name, "rtxpro6000");
}

TEST(Device, OnesThatUsersHaveAreKnown) {
  const struct {
    const char* name;
    const char* architecture;
    bool first;  // of its architecture
  } cases[] = {
      {"t4", "sm_75", true},    {"a100", "sm_80", true},     {"rtx3090", "sm_86", true},
      {"a10", "sm_86", false},  {"a40", "sm_86", false},     {"rtx4090", "sm_89", true},
      {"l4", "sm_89", false},   {"l40s", "sm_89", false},    {"h100", "sm_90", true},
      {"h200", "sm_90", false}, {"gh200", "sm_90", false},   {"b200", "sm_100", true},
      {"b300", "sm_103", true}, {"rtx5090", "sm_120", true}, {"rtxpro6000", "sm_120", false}};
  EXPECT_EQ(std::size(cases), known_devices().size());
  for (const auto& one : cases) {
    const auto found = find_device(one.name);
    ASSERT_TRUE(found.ok()) << one.name;
    EXPECT_EQ(found->architecture, one.architecture) << one.name;
    EXPECT_EQ(find_device(one.architecture)->name == one.name, one.first) << one.name;
  }
}

TEST(Device, OnesTooOldForTheCompilerAreSaidToBeSo) {
  for (const char* name : {"v100", "V100", "sm_70", "sm_72", "sm_61"}) {
    const auto found = find_device(name);
    ASSERT_FALSE(found.ok()) << name;
    EXPECT_EQ(found.error().code, ErrorCode::not_found);
    EXPECT_NE(found.error().message.find("no code for GPUs before sm_75"), std::string::npos)
        << found.error().message;
  }
}

TEST(Device, OnlyMeasuredNumbersAreBeyondDoubt) {
  for (const DeviceSpec& device : known_devices())
    EXPECT_EQ(doubts_about(device).empty(), device.name == "h200") << device.name;
  // Of numbers that a user gave nothing is known.
  DeviceSpec mine = *find_device("rtx4090");
  EXPECT_TRUE(doubts_about(mine).starts_with("not measured: from data sheets"));
  mine.l1_latency = 35.5;
  EXPECT_EQ(doubts_about(mine), "");
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
    for (const DeviceField& field : device_fields()) {
      const bool may_be_none = std::string_view(field.name) == "reserved_shared_bytes";
      EXPECT_TRUE(may_be_none || field.get(d) > 0.0) << field.name;
      EXPECT_GE(field.get(d), field.least) << field.name;
      EXPECT_LE(field.get(d), field.most) << field.name;
    }
    EXPECT_FALSE(d.description.empty());
    EXPECT_LE(d.shared_bytes_per_block + d.reserved_shared_bytes, d.shared_bytes);
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

// TFLOP/s of NVIDIA's data sheets: fp32, fp64, and mma of tf32 and of 16 bits with sums of 32.
TEST(Device, RatesAreThoseOfTheDataSheets) {
  const struct {
    const char* name;
    double fp32, fp64, tf32, half;
  } cases[] = {{"rtx3090", 35.6, 0.556, 35.6, 71.0},   {"a10", 31.2, 0.488, 62.5, 125.0},
               {"a40", 37.4, 0.585, 74.8, 149.7},      {"l4", 30.3, 0.473, 60.0, 121.0},
               {"l40s", 91.6, 1.43, 183.0, 362.0},     {"rtx4090", 82.6, 1.29, 82.6, 165.2},
               {"rtx5090", 104.8, 1.64, 104.8, 209.5}, {"rtxpro6000", 126.0, 1.97, 251.9, 503.8},
               {"t4", 8.1, 0.254, 0.0, 65.0}};
  for (const auto& one : cases) {
    const DeviceSpec d = *find_device(one.name);
    const double clocks = 2e-12 * d.sm_count * d.clock_hertz;
    EXPECT_NEAR(clocks * d.fp32_lanes, one.fp32, 0.02 * one.fp32) << one.name;
    EXPECT_NEAR(clocks * d.fp64_lanes, one.fp64, 0.02 * one.fp64) << one.name;
    EXPECT_NEAR(clocks * d.tensor_half_products, one.half, 0.02 * one.half) << one.name;
    const double tf32 = one.tf32 > 0.0 ? clocks * d.tensor_tf32_products : 0.0;
    EXPECT_NEAR(tf32, one.tf32, 0.02 * one.tf32) << one.name;
  }
  const DeviceSpec b300 = *find_device("b300");
  EXPECT_NEAR(2e-12 * b300.sm_count * b300.clock_hertz * b300.fp64_lanes, 1.25, 0.15);
}

}  // namespace
}  // namespace regraph::device_test
