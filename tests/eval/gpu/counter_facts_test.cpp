#include "eval/gpu/counters/counter_facts.h"

#include "base/random.h"
#include "eval/gpu/counters/counter_plan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace regraph::gpu::counter_facts_test {
namespace {

// A copy of 2^28 floats as the H200's counters should show it: 2 x 1.07 GB in 505 us.
CounterValues copy_counters() {
  const double bytes = 4.0 * 268435456.0;
  return {{"gpu__time_duration.sum", 505e3},
          {"sm__cycles_active.avg", 990e3},
          {"sm__cycles_elapsed.max", 1000e3},
          {"smsp__inst_executed.sum", 1.0e8},
          {"dram__throughput.avg.pct_of_peak_sustained_elapsed", 88.0},
          {"dram__bytes_read.sum", bytes},
          {"dram__bytes_write.sum", 0.97 * bytes},
          {"lts__t_sectors.avg.pct_of_peak_sustained_elapsed", 40.0},
          {"lts__t_sectors_op_read.sum", bytes / 32},
          {"lts__t_sectors_op_write.sum", bytes / 32},
          {"lts__t_sectors_op_read_lookup_hit.sum", 0.0},
          {"l1tex__t_sector_hit_rate.pct", 0.0},
          {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", bytes / 32},
          {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", bytes / 128},
          {"sm__warps_active.avg.pct_of_peak_sustained_active", 80.0},
          {"smsp__issue_active.avg.pct_of_peak_sustained_active", 8.0},
          {"sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active", 4.0},
          {"smsp__warps_issue_stalled_long_scoreboard.avg", 0.75 * 0.80 * 16 * 990e3},
          {"smsp__warps_issue_stalled_barrier.avg", 0.0}};
}

TEST(CounterFacts, TranslatesACopy) {
  const double bytes = 4.0 * 268435456.0;
  const Facts facts = counter_facts(copy_counters(), {2 * bytes, 4.248e12, 64.0});
  EXPECT_NEAR(facts.at("dram_utilization"), 1.97 * bytes / 505e-6 / 4.248e12, 1e-9);
  EXPECT_NEAR(facts.at("dram_bytes_over_compulsory"), 0.985, 1e-9);
  EXPECT_DOUBLE_EQ(facts.at("sm_active_share"), 0.99);
  EXPECT_DOUBLE_EQ(facts.at("issue_utilization"), 0.99 * 0.08);
  EXPECT_DOUBLE_EQ(facts.at("achieved_occupancy"), 0.8);
  EXPECT_DOUBLE_EQ(facts.at("global_load_sectors_per_request"), 4.0);
  EXPECT_DOUBLE_EQ(facts.at("l2_hit_rate"), 0.0);
  EXPECT_NEAR(facts.at("long_scoreboard_stall_share"), 0.75, 1e-12);
  EXPECT_DOUBLE_EQ(facts.at("barrier_stall_share"), 0.0);
  EXPECT_EQ(counter_bottleneck(facts), "DRAM bandwidth");
  for (const auto& [name, value] : facts)
    EXPECT_TRUE(is_known_fact(name)) << name;
}

TEST(CounterFacts, BankConflictsAreWavefrontsBeyondTheIdeal) {
  const Facts facts = counter_facts({{"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", 300.0},
                                     {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", 400.0}});
  EXPECT_DOUBLE_EQ(facts.at("shared_conflict_share"), 0.75);
  EXPECT_DOUBLE_EQ(facts.at("shared_wavefronts_over_ideal"), 4.0);
  EXPECT_FALSE(facts.contains("global_load_sectors_over_ideal"));  // needs the bytes wanted
}

TEST(CounterFacts, WithoutAMeasuredBandwidthThePeakCounts) {
  EXPECT_DOUBLE_EQ(counter_facts(copy_counters()).at("dram_utilization"), 0.88);
}

TEST(CounterFacts, MissingCountersGiveNoFacts) {
  EXPECT_TRUE(counter_facts({}).empty());
  EXPECT_EQ(counter_bottleneck({}), "");
  const Facts facts = counter_facts({{"l1tex__t_sector_hit_rate.pct", 50.0}});
  EXPECT_EQ(facts.size(), 1u);
  EXPECT_DOUBLE_EQ(facts.at("l1_hit_rate"), 0.5);
}

TEST(CounterFacts, NamesWhatLatencyWaitsFor) {
  CounterValues counters = copy_counters();
  counters["dram__bytes_read.sum"] = 1e6;
  counters["dram__bytes_write.sum"] = 1e6;
  counters["dram__throughput.avg.pct_of_peak_sustained_elapsed"] = 5.0;
  EXPECT_EQ(counter_bottleneck(counter_facts(counters)),
            "exposed latency (waiting for global memory)");
  counters["smsp__warps_issue_stalled_barrier.avg"] = 0.9 * 0.80 * 16 * 990e3;
  EXPECT_EQ(counter_bottleneck(counter_facts(counters)), "exposed latency (waiting for barriers)");
  counters["sm__cycles_active.avg"] = 300e3;
  EXPECT_NE(counter_bottleneck(counter_facts(counters)).find("idle SMs"), std::string::npos);
}

// Whatever the hardware says: fractions are fractions, nothing is NaN, every name is known.
TEST(RequiredWork, IsNoMoreThanTheManifestSaysMustMove) {
  EXPECT_EQ(required_input_bytes(100.0, 100.0, std::nullopt), 100.0);
  EXPECT_EQ(required_input_bytes(100.0, 100.0, 150.0), 50.0);  // half is hidden by a mask
  EXPECT_EQ(required_input_bytes(100.0, 100.0, 200.0), 100.0);
  EXPECT_EQ(required_input_bytes(100.0, 100.0, 900.0), 100.0);
  EXPECT_EQ(required_input_bytes(100.0, 100.0, 60.0), 0.0);
}

TEST(CounterFacts, SurvivesGarbage) {
  const double odd[] = {0.0,
                        -1.0,
                        1e300,
                        1e-300,
                        std::numeric_limits<double>::quiet_NaN(),
                        std::numeric_limits<double>::infinity(),
                        -std::numeric_limits<double>::infinity(),
                        std::numeric_limits<double>::denorm_min()};
  for (std::uint64_t round = 0; round < 3000; ++round) {
    CounterValues counters;
    std::uint64_t index = 0;
    for (const std::string_view name : tier_metrics(CounterTier::full)) {
      const std::uint64_t bits = random_bits(round, index++);
      if (bits % 4 == 0) continue;
      counters[std::string(name)] =
          bits % 4 == 1 ? odd[(bits >> 8) % 8] : 1e6 * to_unit_interval(bits);
    }
    const Facts facts = counter_facts(counters, {1e6, round % 2 == 0 ? 1e12 : 0.0, 64.0});
    for (const auto& [name, value] : facts) {
      EXPECT_TRUE(is_known_fact(name)) << name;
      EXPECT_TRUE(std::isfinite(value)) << name;
      EXPECT_GE(value, 0.0) << name;
      if (name.ends_with("utilization") || name.ends_with("stall_share") ||
          name == "sm_active_share") {
        EXPECT_LE(value, 1.0) << name;
      }
    }
    (void)counter_bottleneck(facts);
    (void)missing_work(counters, copy_counters(), {1e6, 1e6});
    (void)missing_work(copy_counters(), counters, {1e6, 1e6});
  }
}

class MissingWork : public ::testing::Test {
 protected:
  [[nodiscard]] std::vector<std::string> missing() const {
    return missing_work(candidate, original, required);
  }
  CounterValues original = copy_counters();
  CounterValues candidate = copy_counters();
  RequiredWork required = {4.0 * 268435456.0, 4.0 * 268435456.0};
};

TEST_F(MissingWork, AnHonestKernelIsClear) {
  EXPECT_TRUE(missing().empty());
  candidate["smsp__inst_executed.sum"] /= 4;  // 16-byte accesses
  EXPECT_TRUE(missing().empty());
  EXPECT_TRUE(missing_work({}, original, required).empty());  // no counters witness nothing
}

TEST_F(MissingWork, ReadingHalfIsNot) {
  candidate["dram__bytes_read.sum"] /= 2;
  ASSERT_EQ(missing().size(), 1u);
  EXPECT_NE(missing()[0].find("reads"), std::string::npos);
  original["dram__bytes_read.sum"] /= 2;  // the original gets by with as little
  EXPECT_TRUE(missing().empty());
}

TEST_F(MissingWork, WritingHalfIsNot) {
  candidate["lts__t_sectors_op_write.sum"] /= 2;
  ASSERT_EQ(missing().size(), 1u);
  EXPECT_NE(missing()[0].find("writes"), std::string::npos);
  candidate["lts__t_sectors_op_red.sum"] = original["lts__t_sectors_op_write.sum"] / 2;
  EXPECT_TRUE(missing().empty());  // the other half by reductions
}

TEST_F(MissingWork, DoingATwentiethOfTheInstructionsIsNot) {
  candidate["smsp__inst_executed.sum"] /= 21;
  ASSERT_EQ(missing().size(), 1u);
  EXPECT_NE(missing()[0].find("instructions"), std::string::npos);
  candidate["sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"] = 30.0;
  EXPECT_TRUE(missing().empty());
}

// A tree in shared memory for every block executes a hundred instructions an element.
TEST_F(MissingWork, WhatThereIsToDoDecidesWhereItIsKnown) {
  candidate["smsp__inst_executed.sum"] /= 21;
  const double executed = candidate["smsp__inst_executed.sum"];
  const double by_bytes = (required.input_bytes + required.output_bytes) / 512.0;
  ASSERT_GT(executed, by_bytes);
  required.flops = 64.0 * (executed - by_bytes) * 0.9;
  EXPECT_TRUE(missing().empty());
  required.flops = 64.0 * (executed - by_bytes) * 1.1;
  EXPECT_EQ(missing().size(), 1u);
}

}  // namespace
}  // namespace regraph::gpu::counter_facts_test
