#include "eval/model/timing_model.h"

#include "eval/model/model_test_support.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace regraph {
namespace {

// A real sample whose traffic, occupancy and grid the tests change at will.
class Model {
 public:
  explicit Model(const std::string& source = test::kCopy)
      : problem_(test::copy_problem()), kernel_(problem_, source) {
    traffic = kernel_.sample().traffic;
    occupancy = kernel_.occupancy();
    launch = kernel_.launch();
  }

  [[nodiscard]] Prediction predicted(const DeviceSpec& device = test::device("h200")) const {
    return predict({kernel_.program(), kernel_.sample().profile, traffic,
                    kernel_.kernel().resources, launch, occupancy, flops, bytes},
                   device);
  }
  [[nodiscard]] double seconds() const { return predicted().time.median_seconds; }

  ptx::CacheTraffic traffic;
  Occupancy occupancy;
  ConcreteLaunch launch;
  std::optional<double> flops;
  std::optional<double> bytes;

 private:
  Problem problem_;
  test::SampledKernel kernel_;
};

double largest(const TimeBounds& b) {
  return std::max({b.issue, b.fp32, b.fp64, b.integer, b.special_function, b.load_store, b.latency,
                   b.l2, b.dram, b.atomics});
}

TEST(TimingModel, IsLabelledPredictedWithAnIntervalAroundTheMedian) {
  Model model;
  for (const bool truncated : {false, true}) {
    model.traffic.truncated = truncated;
    const Prediction p = model.predicted();
    EXPECT_EQ(p.time.method, TimeMethod::predicted);
    EXPECT_EQ(p.time.samples, 1);
    double squares = kPredictionUncertainty * kPredictionUncertainty;
    // The copy may have close bounds; what truncation adds does not depend on that.
    if (p.facts.contains("caveat_close_bounds")) squares += 0.25 * 0.25 - 0.2 * 0.2;
    if (truncated) squares += kTruncatedUncertainty * kTruncatedUncertainty - 0.2 * 0.2;
    EXPECT_EQ(p.facts.contains("caveat_truncated_trace"), truncated);
    const double spread = std::sqrt(squares);
    EXPECT_NEAR(p.time.low_seconds, p.time.median_seconds * (1.0 - spread), 1e-12);
    EXPECT_NEAR(p.time.high_seconds, p.time.median_seconds * (1.0 + spread), 1e-12);
    EXPECT_GT(p.time.low_seconds, 0.0);
  }
}

TEST(TimingModel, LiesBetweenTheLargestBoundAndTheSum) {
  Model model;
  for (const DeviceSpec& device : known_devices()) {
    for (const double factor : {0.0, 0.1, 1.0, 30.0}) {
      Model scaled = model;
      scaled.traffic.dram_read_bytes *= factor;
      scaled.traffic.l2_read_bytes *= factor;
      const Prediction p = scaled.predicted(device);
      const TimeBounds& b = p.bounds;
      const double sum = b.issue + b.fp32 + b.fp64 + b.integer + b.special_function + b.load_store +
                         b.latency + b.l2 + b.dram;
      const double busy = p.time.median_seconds - device.kernel_launch_seconds;
      EXPECT_GE(busy, largest(b) * (1.0 - 1e-12)) << device.name;
      EXPECT_LE(busy, sum * (1.0 + 1e-12)) << device.name;
      EXPECT_GE(largest(b), 0.0);
      EXPECT_FALSE(p.bottleneck.empty());
    }
  }
}

TEST(TimingModel, MoreTrafficIsNeverFaster) {
  Model model;
  double last = 0.0;
  for (double factor = 0.0; factor < 40.0; factor = factor * 1.5 + 0.1) {
    Model scaled = model;
    scaled.traffic.dram_read_bytes *= factor;
    scaled.traffic.dram_write_bytes *= factor;
    EXPECT_GE(scaled.seconds(), last);
    last = scaled.seconds();
  }
  Model flooded = model;
  flooded.traffic.dram_read_bytes = 4e9;
  EXPECT_EQ(flooded.predicted().bottleneck, "DRAM bandwidth");
  EXPECT_NEAR(flooded.seconds(), 4e9 / test::device("h200").dram_bytes_per_second, 1e-4);
  EXPECT_LE(model.seconds(), flooded.seconds());
}

TEST(TimingModel, MoreResidentWarpsHideLatency) {
  Model model;
  double last = INFINITY;
  for (int blocks = 1; blocks <= 8; ++blocks) {
    Model resident = model;
    resident.occupancy.blocks_per_sm = blocks;
    EXPECT_LE(resident.seconds(), last) << blocks;
    last = resident.seconds();
  }
  Model alone = model;
  alone.occupancy.blocks_per_sm = 1;
  Model crowded = model;
  crowded.occupancy.blocks_per_sm = 8;
  EXPECT_GT(alone.seconds(), 1.5 * crowded.seconds());
  EXPECT_NE(alone.predicted().bottleneck.find("latency"), std::string::npos)
      << alone.predicted().bottleneck;
}

TEST(TimingModel, ALargerGridIsNeverFaster) {
  Model model;
  double last = 0.0;
  for (std::uint32_t blocks = 1; blocks < 3'000'000; blocks = blocks * 2 + 1) {
    Model grown = model;
    grown.launch.grid = {blocks, 1, 1};
    EXPECT_GE(grown.seconds(), last) << blocks;
    last = grown.seconds();
  }
}

TEST(TimingModel, CacheMissesMakeLoadsSlower) {
  Model model;
  Model hitting = model;
  hitting.traffic.l1_hit_sectors = hitting.traffic.l1_load_sectors;
  Model missing = model;
  missing.traffic.l1_hit_sectors = 0.0;
  missing.traffic.l2_hit_bytes = 0.0;
  EXPECT_GT(missing.predicted().bounds.latency, hitting.predicted().bounds.latency);
}

TEST(TimingModel, TheRooflineIsWhatMustMoveOrBeComputed) {
  Model model;
  const DeviceSpec device = test::device("h200");
  EXPECT_EQ(model.predicted().roofline_seconds, 0.0);
  model.bytes = 8.0 * (1 << 20);
  EXPECT_NEAR(model.predicted().roofline_seconds, 8.0 * (1 << 20) / device.dram_bytes_per_second,
              1e-12);
  model.flops = 1e12;
  EXPECT_NEAR(model.predicted().roofline_seconds, 1e12 / device.peak_fp32_flops(), 1e-9);
  EXPECT_GT(model.predicted().facts.at("roofline_fraction"), 0.0);
}

TEST(TimingModel, FactsUseTheVocabularyAndShares) {
  const Prediction p = Model().predicted();
  for (const auto& [name, value] : p.facts) {
    EXPECT_TRUE(is_known_fact(name)) << name;
    EXPECT_TRUE(std::isfinite(value)) << name;
    EXPECT_GE(value, 0.0) << name;
    const bool is_share = name.ends_with("_share") || name.ends_with("_utilization") ||
                          name.ends_with("_rate") || name == "occupancy";
    EXPECT_LE(value, is_share ? 1.0 : 1e9) << name;
  }
  EXPECT_DOUBLE_EQ(p.facts.at("global_load_sectors_per_request"), 4.0);
  EXPECT_DOUBLE_EQ(p.facts.at("global_load_bytes_per_thread"), 4.0);
  EXPECT_DOUBLE_EQ(p.facts.at("threads_per_block"), 256.0);
  EXPECT_DOUBLE_EQ(p.facts.at("thread_efficiency"), 1.0);
}

}  // namespace
}  // namespace regraph
