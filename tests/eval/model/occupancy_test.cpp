#include "eval/model/occupancy.h"

#include "base/random.h"

#include <gtest/gtest.h>

#include <cuda_occupancy.h>

namespace regraph::occupancy_test {
namespace {

using Limiter = Occupancy::Limiter;

struct Case {
  const char* device;
  int threads;
  int registers;
  std::int64_t shared;
  int blocks;
  Limiter limiter;
  double fraction;
};

TEST(Occupancy, FollowsTheCalculator) {
  // Worked out by hand from the rules in the header.
  const Case cases[] = {
      // 8 warps a block, 64 warps an SM.
      {"h200", 256, 32, 0, 8, Limiter::warps, 1.0},
      // 1 warp a block: 32 blocks come before 64 warps.
      {"h200", 32, 16, 0, 32, Limiter::blocks, 0.5},
      // 64 registers: 2048 a warp, 32 warps, 4 blocks of 8.
      {"h200", 256, 64, 0, 4, Limiter::registers, 0.5},
      // 65 registers round up to 2304 a warp: 28 warps, 3 blocks of 8.
      {"h200", 256, 65, 0, 3, Limiter::registers, 0.375},
      // 255 registers: 8192 a warp, 8 warps, 1 block.
      {"h200", 256, 255, 0, 1, Limiter::registers, 0.125},
      // 48 KiB and the system's 1: four times in 228.
      {"h200", 256, 32, 48 << 10, 4, Limiter::shared_memory, 0.5},
      // 164 KiB on the A100: 49 fits three times.
      {"a100", 256, 32, 48 << 10, 3, Limiter::shared_memory, 0.375},
      // The largest block there can be.
      {"h200", 128, 32, 227 << 10, 1, Limiter::shared_memory, 4.0 / 64.0},
      // 1 byte costs 128 and the KiB: 202 blocks would fit.
      {"h200", 64, 32, 1, 32, Limiter::warps, 1.0},
      // Where nothing is reserved, a block may need no shared memory at all.
      {"t4", 256, 32, 0, 4, Limiter::warps, 1.0},
      {"t4", 256, 32, 32 << 10, 2, Limiter::shared_memory, 0.5},
      {"t4", 32, 16, 0, 16, Limiter::blocks, 0.5},
      {"rtx3090", 32, 16, 0, 16, Limiter::blocks, 16.0 / 48.0},
      {"rtx4090", 32, 16, 0, 24, Limiter::blocks, 0.5},
      {"rtx5090", 256, 64, 0, 4, Limiter::registers, 32.0 / 48.0},
      // Ties: warps before registers before shared memory before blocks.
      {"h200", 1024, 32, 0, 2, Limiter::warps, 1.0},
      {"h200", 128, 40, (228 << 10) / 12 - 1024, 12, Limiter::registers, 0.75},
      // 48 threads are two warps.
      {"h200", 48, 32, 0, 32, Limiter::warps, 1.0},
      {"h200", 1, 1, 0, 32, Limiter::blocks, 0.5},
  };
  for (const Case& c : cases) {
    const auto device = find_device(c.device);
    const auto occupancy = occupancy_of(*device, c.threads, c.registers, c.shared);
    SCOPED_TRACE(std::string(c.device) + " " + std::to_string(c.threads) + " threads " +
                 std::to_string(c.registers) + " registers " + std::to_string(c.shared) + " bytes");
    ASSERT_TRUE(occupancy.ok()) << occupancy.error().message;
    EXPECT_EQ(occupancy->blocks_per_sm, c.blocks);
    EXPECT_EQ(name(occupancy->limiter), name(c.limiter));
    EXPECT_DOUBLE_EQ(occupancy->fraction, c.fraction);
    EXPECT_EQ(occupancy->warps_per_block, (c.threads + 31) / 32);
  }
}

TEST(Occupancy, SaysWhatDoesNotFit) {
  const DeviceSpec device = *find_device("h200");
  const auto expect = [&](int threads, int registers, std::int64_t shared, const char* word) {
    const auto occupancy = occupancy_of(device, threads, registers, shared);
    ASSERT_FALSE(occupancy.ok());
    EXPECT_EQ(occupancy.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(occupancy.error().message.find(word), std::string::npos) << occupancy.error().message;
  };
  expect(1024, 128, 0, "registers");
  expect(0, 32, 0, "threads");
  expect(1025, 32, 0, "threads");
  expect(-5, 32, 0, "threads");
  expect(256, 32, (227 << 10) + 1, "shared memory");
  expect(256, 32, std::int64_t{1} << 40, "shared memory");
}

// NVIDIA's own calculator, from the toolkit's cuda_occupancy.h.
int blocks_by_nvidia(const DeviceSpec& device, int threads, int registers, std::int64_t shared) {
  cudaOccDeviceProp properties;
  const int capability = std::stoi(std::string(device.architecture.substr(3)));
  properties.computeMajor = capability / 10;
  properties.computeMinor = capability % 10;
  properties.maxThreadsPerBlock = 1024;
  properties.maxThreadsPerMultiprocessor = 32 * device.max_warps;
  properties.regsPerBlock = device.registers;
  properties.regsPerMultiprocessor = device.registers;
  properties.warpSize = 32;
  properties.sharedMemPerBlock = 48 << 10;
  properties.sharedMemPerMultiprocessor = static_cast<std::size_t>(device.shared_bytes);
  properties.numSms = device.sm_count;
  properties.sharedMemPerBlockOptin = static_cast<std::size_t>(device.shared_bytes_per_block);
  properties.reservedSharedMemPerBlock = static_cast<std::size_t>(device.reserved_shared_bytes);
  cudaOccFuncAttributes attributes;
  attributes.maxThreadsPerBlock = 1024;
  attributes.numRegs = registers;
  attributes.sharedSizeBytes = 0;
  attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  attributes.maxDynamicSharedSizeBytes = properties.sharedMemPerBlockOptin;
  attributes.numBlockBarriers = 1;
  const cudaOccDeviceState state;
  cudaOccResult result = {};
  const cudaOccError error = cudaOccMaxActiveBlocksPerMultiprocessor(
      &result, &properties, &attributes, &state, threads, static_cast<std::size_t>(shared));
  EXPECT_EQ(error, CUDA_OCC_SUCCESS);
  return result.activeBlocksPerMultiprocessor;
}

TEST(Occupancy, AgreesWithNvidiasCalculator) {
  int fitting = 0;
  for (const DeviceSpec& device : known_devices()) {
    for (std::uint64_t draw = 0; draw < 20000; ++draw) {
      const int threads = 1 + static_cast<int>(random_bits(1, draw) % 1024);
      const int registers = 1 + static_cast<int>(random_bits(2, draw) % 255);
      // Half of the cases without much shared memory, or it would decide nearly all.
      const auto most = static_cast<std::uint64_t>(device.shared_bytes_per_block);
      const std::uint64_t limit = draw % 2 == 0 ? most + 1 : 8 << 10;
      const auto shared = static_cast<std::int64_t>(random_bits(3, draw) % limit);
      const auto ours = occupancy_of(device, threads, registers, shared);
      const int theirs = blocks_by_nvidia(device, threads, registers, shared);
      ASSERT_EQ(ours.ok() ? ours->blocks_per_sm : 0, theirs)
          << device.name << " " << threads << " threads " << registers << " registers " << shared;
      fitting += ours.ok() ? 1 : 0;
    }
  }
  EXPECT_GT(fitting, 20000);
}

}  // namespace
}  // namespace regraph::occupancy_test
