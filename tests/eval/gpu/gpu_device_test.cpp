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
  EXPECT_EQ(model_of(properties("Tesla T4", "sm_75")).name, "t4");
  EXPECT_EQ(model_of(properties("NVIDIA L40S", "sm_89")).name, "l40s");
  EXPECT_EQ(model_of(properties("NVIDIA GH200 480GB", "sm_90")).name, "gh200");
  EXPECT_EQ(model_of(properties("NVIDIA B300 SXM6 AC", "sm_103")).name, "b300");
}

TEST(GpuDevice, NamesOfSeveralWordsAreFound) {
  const DeviceProperties ada = properties("NVIDIA GeForce RTX 4090", "sm_89");
  EXPECT_EQ(model_of(ada).name, "rtx4090");
  for (const char* name : {"rtx4090", "RTX 4090", "rtx-4090", "sm_89"})
    EXPECT_TRUE(is_device(ada, name)) << name;
  for (const char* name : {"rtx409", "4090x", "rtx3090", "l4"})
    EXPECT_FALSE(is_device(ada, name)) << name;
  EXPECT_EQ(
      model_of(properties("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "sm_120")).name,
      "rtxpro6000");
  // Others of that number are smaller or slower.
  for (const char* name : {"NVIDIA GeForce RTX 4090 Laptop GPU", "NVIDIA GeForce RTX 4090 D"})
    EXPECT_EQ(model_of(properties(name, "sm_89")).name, "gpu") << name;
  EXPECT_EQ(model_of(properties("NVIDIA GeForce RTX 3090 Ti", "sm_86")).name, "gpu");
  EXPECT_EQ(
      model_of(properties("NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition", "sm_120"))
          .name,
      "gpu");
  EXPECT_EQ(model_of(properties("NVIDIA L40", "sm_89")).name, "gpu");
}

TEST(GpuDevice, AnotherOneTakesWhatTheDriverKnows) {
  DeviceProperties ada = properties("NVIDIA RTX 6000 Ada Generation", "sm_89");
  ada.sm_count = 128;
  ada.clock_hertz = 2.52e9;
  ada.l2_bytes = 72ULL << 20;
  ada.memory_clock_hertz = 10.501e9;
  ada.memory_bus_bits = 384;
  const DeviceSpec spec = model_of(ada);
  EXPECT_EQ(spec.name, "gpu");
  EXPECT_EQ(spec.architecture, "sm_89");
  EXPECT_EQ(spec.max_warps, 48);  // the nearest architecture's
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
