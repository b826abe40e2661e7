#include "eval/model/local_memory.h"

#include <gtest/gtest.h>

#include <cmath>

namespace regraph::local_memory_test {
namespace {

DeviceSpec h200() {
  return *find_device("h200");
}

TEST(HitShare, IsOneUpToTheCapacityAndFallsOffBeyond) {
  EXPECT_EQ(hit_share(0.0, 100.0), 1.0);
  EXPECT_EQ(hit_share(100.0, 100.0), 1.0);
  EXPECT_EQ(hit_share(1.0, 0.0), 0.0);
  double last = 1.0;
  for (double load = 1.02; load < 50.0; load *= 1.1) {
    const double share = hit_share(load * 1e6, 1e6);
    EXPECT_LT(share, last) << load;
    EXPECT_NEAR(share, std::exp(-load * (1.0 - share)), 1e-6) << load;
    last = share;
  }
  EXPECT_LT(last, 1e-9);
  // A stream through twice the capacity.
  EXPECT_NEAR(hit_share(2.0, 1.0), 0.2032, 1e-4);
}

sass::LocalReuse lines_at(std::uint32_t distance, double loaded, double written) {
  sass::LocalReuse reuse;
  reuse.by_distance[distance] = {loaded, written};
  reuse.loaded = loaded;
  reuse.stored = written;
  return reuse;
}

TEST(LocalTraffic, StaysInTheL1ThatHoldsAllStacks) {
  const LocalSharers sharers = {64.0, 64.0 * 132.0, 1e5, 200e3};
  const LocalTraffic traffic = local_traffic(lines_at(20, 1000.0, 500.0), sharers, h200());
  EXPECT_EQ(traffic.l2_read_bytes, 0.0);
  EXPECT_EQ(traffic.dram_write_bytes, 0.0);
  EXPECT_EQ(traffic.load_clocks, h200().l1_latency);
}

TEST(LocalTraffic, GoesToTheL2AndBeyondWithTheWarpsThatShareThem) {
  // 50 lines a warp: 410 KB on an SM, 54 MB on all, of which the L2 holds 44.
  const LocalSharers sharers = {64.0, 64.0 * 132.0, 1e5, 100e3};
  const LocalTraffic traffic = local_traffic(lines_at(50, 1000.0, 400.0), sharers, h200());
  const double all = 1000.0 * 128.0 * 1e5;
  EXPECT_NEAR(traffic.l2_read_bytes, all, 0.05 * all);
  EXPECT_NEAR(traffic.l2_write_bytes, 0.4 * all, 0.05 * all);
  EXPECT_GT(traffic.dram_read_bytes, 0.0);
  EXPECT_LT(traffic.dram_read_bytes, 0.6 * all);
  EXPECT_GT(traffic.load_clocks, h200().l2_latency * 0.9);
  // On one SM alone the L2 holds them.
  const LocalTraffic few =
      local_traffic(lines_at(50, 1000.0, 400.0), {64.0, 64.0, 64.0, 100e3}, h200());
  EXPECT_EQ(few.dram_read_bytes, 0.0);
  // Far beyond both caches everything moves.
  const LocalTraffic huge = local_traffic(lines_at(2000, 1000.0, 400.0), sharers, h200());
  EXPECT_NEAR(huge.dram_read_bytes, all, 0.01 * all);
  EXPECT_NEAR(huge.dram_write_bytes, 0.4 * all, 0.01 * all);
  EXPECT_NEAR(huge.load_clocks, h200().dram_latency, 1.0);
}

TEST(L1Bytes, AreWhatSharedMemoryLeaves) {
  Occupancy occupancy;
  occupancy.blocks_per_sm = 2;
  EXPECT_EQ(l1_bytes(h200(), occupancy, 0), 254u << 10);
  EXPECT_EQ(l1_bytes(h200(), occupancy, 49 << 10), 156u << 10);
  EXPECT_EQ(l1_bytes(h200(), occupancy, 113 << 10), 28u << 10);
  occupancy.blocks_per_sm = 32;
  EXPECT_EQ(l1_bytes(h200(), occupancy, 49 << 10), 16u << 10);
}

}  // namespace
}  // namespace regraph::local_memory_test
