#include "eval/model/load_latency.h"

#include "eval/model/model_test_support.h"

#include <gtest/gtest.h>

namespace regraph::load_latency_test {
namespace {

const DeviceSpec kDevice = test::device("h200");

TEST(LoadLatency, EachLoadTakesWhatServedIt) {
  ptx::CacheTraffic traffic;
  traffic.loads.resize(4);
  traffic.loads[0].l1 = 10;
  traffic.loads[1].l2 = 10;
  traffic.loads[2] = {5, 0, 5, 0, 0};
  const LoadLatency latency = load_latency(traffic, kDevice, 64);
  EXPECT_DOUBLE_EQ(latency.of(0), kDevice.l1_latency);
  EXPECT_DOUBLE_EQ(latency.of(1), kDevice.l2_latency);
  EXPECT_DOUBLE_EQ(latency.of(2), (kDevice.l1_latency + kDevice.dram_latency) / 2.0);
  const double mean =
      (15 * kDevice.l1_latency + 10 * kDevice.l2_latency + 5 * kDevice.dram_latency) / 30.0;
  // What is no load, or unknown, is an average one.
  EXPECT_DOUBLE_EQ(latency.of(3), mean);
  EXPECT_DOUBLE_EQ(latency.of(-1), mean);
  EXPECT_DOUBLE_EQ(latency.of(100), mean);
}

// One after another from the same line: the second waits for the first one's fetch when few warps
// are there to take up the time.
TEST(LoadLatency, WhatIsOnItsWayIsWaitedForByFewWarps) {
  ptx::CacheTraffic traffic;
  traffic.loads.resize(1);
  traffic.loads[0].shared_l2 = 10;
  double before = 1e9;
  for (const double warps : {1.0, 4.0, 16.0, 32.0, 64.0}) {
    const double now = load_latency(traffic, kDevice, warps).of(0);
    EXPECT_LE(now, before);
    EXPECT_GE(now, kDevice.l1_latency);
    EXPECT_LE(now, kDevice.l2_latency);
    before = now;
  }
  EXPECT_DOUBLE_EQ(load_latency(traffic, kDevice, 4).of(0), kDevice.l2_latency);
  EXPECT_LT(before, kDevice.l2_latency / 2.0);
}

TEST(LoadLatency, WithoutSingleLoadsTheSumsDecide) {
  ptx::CacheTraffic traffic;
  EXPECT_DOUBLE_EQ(load_latency(traffic, kDevice, 64).of(0), kDevice.l2_latency);
  traffic.l1_load_sectors = 100;
  traffic.l1_hit_sectors = 100;
  EXPECT_DOUBLE_EQ(load_latency(traffic, kDevice, 64).of(0), kDevice.l1_latency);
  traffic.l1_hit_sectors = 0;
  traffic.l2_read_bytes = 3200;
  EXPECT_DOUBLE_EQ(load_latency(traffic, kDevice, 64).of(0), kDevice.dram_latency);
}

// From the cache simulation: 256 threads that all read the same words, round after round.
TEST(LoadLatency, NeighboursThatReadTheSameWaitForTheSameFetch) {
  const Problem problem =
      test::problem_of(R"yaml(
sizes: {n: 65536}
args: {in: {shape: [n]}, out: {dir: out, shape: [n]}}
launch: {block: 256, grid: 132}
tests: [{n: 512}]
)yaml",
                       {test::input("in"), test::output("out"), test::number("n")});
  const test::SampledKernel kernel(problem, R"cuda(
__global__ void k(const float* in, float* out, int n) {
  float x = 0.0f;
  for (int i = 0; i < n; i += 8) x += in[i];
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
)cuda");
  double shared = 0.0;
  double hits = 0.0;
  double fetched = 0.0;
  for (const ptx::LoadService& load : kernel.sample().traffic.loads) {
    shared += load.shared_l2 + load.shared_dram;
    hits += load.l1;
    fetched += load.l2 + load.dram;
  }
  // Seven of eight warps come for a sector that the first one has just asked for.
  EXPECT_NEAR(shared / (shared + hits + fetched), 7.0 / 8.0, 0.05);
  EXPECT_NEAR(fetched / (shared + hits + fetched), 1.0 / 8.0, 0.05);
}

}  // namespace
}  // namespace regraph::load_latency_test
