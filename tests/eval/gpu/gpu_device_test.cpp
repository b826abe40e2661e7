#include "eval/gpu/protocol/gpu_device.h"

#include <gtest/gtest.h>

namespace regraph::gpu::gpu_device_test {
namespace {

DeviceProperties properties(std::string name, std::string architecture) {
  DeviceProperties gpu;
  gpu.name = std::move(name);
  gpu.architecture = std::move(architecture);
  return gpu;
}

TEST(GpuDevice, ATablesOwnDeviceIsTakenAsItIs) {
  DeviceProperties h200 = properties("NVIDIA H200", "sm_90");
  h200.sm_count = 1;  // the table knows better
  EXPECT_EQ(model_of(h200).name, "h200");
  EXPECT_EQ(model_of(h200).sm_count, find_device("h200")->sm_count);
  EXPECT_EQ(model_of(properties("NVIDIA H100 80GB HBM3", "sm_90")).name, "h100");
  EXPECT_EQ(model_of(properties("NVIDIA A100-SXM4-80GB", "sm_80")).name, "a100");
}

TEST(GpuDevice, AnotherOneTakesWhatTheDriverKnows) {
  DeviceProperties ada = properties("NVIDIA GeForce RTX 4090", "sm_89");
  ada.sm_count = 128;
  ada.clock_hertz = 2.52e9;
  ada.l2_bytes = 72ULL << 20;
  ada.memory_clock_hertz = 10.501e9;
  ada.memory_bus_bits = 384;
  const DeviceSpec spec = model_of(ada);
  EXPECT_EQ(spec.name, "gpu");
  EXPECT_EQ(spec.architecture, "sm_89");
  EXPECT_EQ(spec.sm_count, 128);
  EXPECT_EQ(spec.l2_bytes, 72ULL << 20);
  EXPECT_NEAR(spec.peak_dram_bytes_per_second, 1.008e12, 1e9);
  EXPECT_LT(spec.dram_bytes_per_second, spec.peak_dram_bytes_per_second);
  // A GPU whose name only begins like a known one is another one.
  EXPECT_EQ(model_of(properties("NVIDIA A100X", "sm_80")).name, "gpu");
  EXPECT_EQ(model_of(properties("NVIDIA Graphics Device", "nonsense")).name, "gpu");
}

TEST(GpuDevice, DevicesAreNamedByNameOrArchitecture) {
  const DeviceProperties h100 = properties("NVIDIA H100 80GB HBM3", "sm_90");
  EXPECT_TRUE(is_device(h100, "h100"));
  EXPECT_TRUE(is_device(h100, "H100"));
  EXPECT_TRUE(is_device(h100, "sm_90"));
  EXPECT_TRUE(is_device(h100, "gpu"));
  EXPECT_FALSE(is_device(h100, "h200"));
  EXPECT_FALSE(is_device(h100, "sm_100"));
  EXPECT_FALSE(is_device(h100, "h10"));
}

}  // namespace
}  // namespace regraph::gpu::gpu_device_test
