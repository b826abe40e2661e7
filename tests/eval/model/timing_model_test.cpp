#include "eval/model/timing_model.h"

#include "eval/model/model_test_support.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace regraph::timing_model_test {
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
    return predict(
        {kernel_.program(), kernel_.sample().profile, traffic, kernel_.kernel().resources, launch,
         occupancy, flops, bytes, in_machine_code ? &kernel_.code() : nullptr},
        device);
  }
  [[nodiscard]] double seconds() const { return predicted().time.median_seconds; }

  ptx::CacheTraffic traffic;
  Occupancy occupancy;
  ConcreteLaunch launch;
  std::optional<double> flops;
  std::optional<double> bytes;
  bool in_machine_code = true;

 private:
  Problem problem_;
  test::SampledKernel kernel_;
};

double largest(const TimeBounds& b) {
  return std::max({b.issue, b.fp32, b.fp64, b.integer, b.special_function, b.constant_loads,
                   b.load_store, b.latency, b.l2, b.dram, b.atomics, b.launch});
}

TEST(TimingModel, IsLabelledPredictedWithAnIntervalAroundTheMedian) {
  Model model;
  for (const bool truncated : {false, true}) {
    model.traffic.truncated = truncated;
    model.in_machine_code = !truncated;
    const Prediction p = model.predicted();
    EXPECT_EQ(p.time.method, TimeMethod::predicted);
    EXPECT_EQ(p.time.samples, 1);
    double squares = kPredictionUncertainty * kPredictionUncertainty;
    // The copy may have close bounds; what truncation adds does not depend on that.
    if (p.facts.contains("caveat_close_bounds")) squares += 0.25 * 0.25 - 0.2 * 0.2;
    if (truncated) squares += kTruncatedUncertainty * kTruncatedUncertainty - 0.2 * 0.2;
    if (truncated) squares += 0.25 * 0.25 - 0.2 * 0.2;  // of PTX counts
    EXPECT_EQ(p.facts.contains("caveat_truncated_trace"), truncated);
    EXPECT_EQ(p.facts.contains("caveat_ptx_counts"), truncated);
    EXPECT_EQ(p.counted_in_machine_code, !truncated);
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
                         b.constant_loads + b.latency + b.l2 + b.dram + b.launch;
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

TEST(TimingModel, SectorsWrittenInPartTakeLonger) {
  const DeviceSpec h200 = test::device("h200");
  Model model;
  model.traffic.l2_write_bytes = 1e9;
  const double whole = model.predicted().bounds.l2;
  model.traffic.l2_partial_write_bytes = 1e9;
  const double partial = model.predicted().bounds.l2;
  EXPECT_NEAR(partial - whole,
              1e9 / h200.l2_partial_write_bytes_per_second - 1e9 / h200.l2_write_bytes_per_second,
              1e-12);
  EXPECT_GT(partial, 2.0 * whole);
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
  Model missing = model;
  for (ptx::LoadService& load : hitting.traffic.loads)
    load = {load.l1 + load.l2 + load.dram + load.shared_l2 + load.shared_dram, 0, 0, 0, 0};
  for (ptx::LoadService& load : missing.traffic.loads)
    load = {0, 0, load.l1 + load.l2 + load.dram + load.shared_l2 + load.shared_dram, 0, 0};
  for (const bool in_machine_code : {false, true}) {
    hitting.in_machine_code = missing.in_machine_code = in_machine_code;
    const DeviceSpec device = test::device("h200");
    const double waves = std::ceil(4096.0 / (device.sm_count * model.occupancy.blocks_per_sm));
    EXPECT_NEAR(missing.predicted().bounds.latency - hitting.predicted().bounds.latency,
                waves * (device.dram_latency - device.l1_latency) / device.clock_hertz, 1e-9);
  }
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

TEST(TimingModel, TheRooflineOfTensorCoresIsTheirs) {
  Model model(
      "__global__ void k(const float* in, float* out, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  float d[4] = {};\n"
      "  unsigned int a = __float_as_uint(1.0f);\n"
      "  asm volatile(\"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, \"\n"
      "               \"{%4, %4, %4, %4}, {%4, %4}, {%0, %1, %2, %3};\"\n"
      "               : \"+f\"(d[0]), \"+f\"(d[1]), \"+f\"(d[2]), \"+f\"(d[3]) : \"r\"(a));\n"
      "  if (i < n) out[i] = in[i] + d[0] - 8.0f;\n"
      "}\n");
  const DeviceSpec device = test::device("h200");
  model.flops = 1e12;
  const double peak = 2.0 * device.tensor_tf32_products * device.sm_count * device.clock_hertz;
  EXPECT_GT(peak, device.peak_fp32_flops());
  EXPECT_NEAR(model.predicted().roofline_seconds, 1e12 / peak, 1e-9);
}

TEST(TimingModel, FactorsOfAByteGoTwiceAsFast) {
  Model model(
      "__global__ void k(const float* in, float* out, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  float d[4] = {};\n"
      "  unsigned int a = __float_as_uint(in[0]);\n"
      "  asm volatile(\"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%0, %1, %2, %3}, \"\n"
      "               \"{%4, %4, %4, %4}, {%4, %4}, {%0, %1, %2, %3};\"\n"
      "               : \"+f\"(d[0]), \"+f\"(d[1]), \"+f\"(d[2]), \"+f\"(d[3]) : \"r\"(a));\n"
      "  if (i < n) out[i] = in[i] + d[0];\n"
      "}\n");
  const DeviceSpec device = test::device("h200");
  model.flops = 1e12;
  const double peak = 4.0 * device.tensor_half_products * device.sm_count * device.clock_hertz;
  EXPECT_NEAR(model.predicted().roofline_seconds, 1e12 / peak, 1e-9);
  EXPECT_GT(model.predicted().facts.at("tensor_utilization"), 0.0);
}

TEST(TimingModel, FactsUseTheVocabularyAndShares) {
  const Prediction p = Model().predicted();
  for (const auto& [name, value] : p.facts) {
    EXPECT_TRUE(is_known_fact(name)) << name;
    EXPECT_TRUE(std::isfinite(value)) << name;
    EXPECT_GE(value, 0.0) << name;
    const bool is_share = name.ends_with("_share") || name.ends_with("_utilization") ||
                          name.ends_with("_rate") || name == "occupancy" ||
                          name == "warp_slots_filled";
    EXPECT_LE(value, is_share ? 1.0 : 1e9) << name;
  }
  EXPECT_DOUBLE_EQ(p.facts.at("global_load_sectors_per_request"), 4.0);
  EXPECT_DOUBLE_EQ(p.facts.at("global_load_bytes_per_thread"), 4.0);
  EXPECT_DOUBLE_EQ(p.facts.at("global_load_sectors_over_ideal"), 1.0);
  EXPECT_DOUBLE_EQ(p.facts.at("compute_capability"), 9.0);
  EXPECT_DOUBLE_EQ(p.facts.at("threads_per_block"), 256.0);
  EXPECT_DOUBLE_EQ(p.facts.at("thread_efficiency"), 1.0);
}

// A theoretical occupancy says nothing of a grid that does not fill the GPU.
TEST(TimingModel, FactsTellHowMuchOfTheGpuTheGridFills) {
  Model model;
  const int multiprocessors = test::device("h200").sm_count;
  model.launch.grid = {static_cast<std::uint32_t>(multiprocessors / 2), 1, 1};
  const Facts few = model.predicted().facts;
  EXPECT_DOUBLE_EQ(few.at("occupancy"), model.occupancy.fraction);
  EXPECT_DOUBLE_EQ(few.at("blocks_per_multiprocessor"), 0.5);
  EXPECT_DOUBLE_EQ(few.at("warp_slots_filled"),
                   0.5 * model.occupancy.warps_per_block / test::device("h200").max_warps);
  model.launch.grid = {1U << 20, 1, 1};
  EXPECT_DOUBLE_EQ(model.predicted().facts.at("warp_slots_filled"), model.occupancy.fraction);
}

// Machine code that was not made from the PTX, or that holds what nobody knows, is not counted in.
TEST(TimingModel, FallsBackOnPtxWhenMachineCodeDoesNotFit) {
  const test::SampledKernel kernel(test::copy_problem(), test::kCopy);
  const auto predicted = [&](const sass::MachineCode& code) {
    return predict({kernel.program(),
                    kernel.sample().profile,
                    kernel.sample().traffic,
                    kernel.kernel().resources,
                    kernel.launch(),
                    kernel.occupancy(),
                    {},
                    {},
                    &code},
                   test::device("h200"));
  };
  EXPECT_TRUE(predicted(kernel.code()).counted_in_machine_code);
  sass::MachineCode unmapped = kernel.code();
  for (sass::CodeInstruction& one : unmapped.instructions)
    one.ptx_line = 0;
  sass::MachineCode foreign = kernel.code();
  for (sass::CodeInstruction& one : foreign.instructions)
    one.ptx_line += 3;
  sass::MachineCode unknown = kernel.code();
  unknown.instructions[2].what.operation_class = sass::OperationClass::unknown;
  for (const sass::MachineCode* code : {&unmapped, &foreign, &unknown}) {
    const Prediction p = predicted(*code);
    EXPECT_FALSE(p.counted_in_machine_code);
    EXPECT_TRUE(p.facts.contains("caveat_ptx_counts"));
    EXPECT_GT(p.time.high_seconds, predicted(kernel.code()).time.median_seconds);
  }
}

// With one block on an SM everything waits at its barriers; others fill the gaps.
TEST(TimingModel, BlocksWithBarriersOverlapOnlyWithOthers) {
  const char* const with_barriers = R"cuda(
__global__ void k(const float* in, float* out, int n) {
  __shared__ float s[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = 0.0f;
  for (int r = 0; r < 64; ++r) {
    s[threadIdx.x] = x + r;
    __syncthreads();
    for (int j = 0; j < 16; ++j) x += s[(threadIdx.x * 5 + j) & 255] * 1.5f;
    __syncthreads();
  }
  if (i < n) out[i] = x + in[i];
}
)cuda";
  Model model(with_barriers);
  model.traffic = {};
  const auto busy = [&](int blocks) {
    model.occupancy.blocks_per_sm = blocks;
    // The same number of waves: latency stays the same bound.
    model.launch.grid = {static_cast<std::uint32_t>(132 * 8), 1, 1};
    const Prediction p = model.predicted();
    return std::pair(p, p.time.median_seconds - test::device("h200").kernel_launch_seconds);
  };
  const auto [alone, alone_seconds] = busy(1);
  const TimeBounds& b = alone.bounds;
  const double arithmetic = std::max({b.issue, b.fp32, b.integer, b.special_function});
  EXPECT_NEAR(alone_seconds, arithmetic + b.load_store + b.latency, 1e-9);
  const auto [crowded, crowded_seconds] = busy(8);
  const TimeBounds& c = crowded.bounds;
  EXPECT_LT(crowded_seconds, 0.9 * (arithmetic + c.load_store + c.latency));
}

// Warps that meet once, behind a long loop, drift apart in it.
TEST(TimingModel, OneBarrierBehindALoopHardlyStopsOverlap) {
  const char* const source = R"cuda(
__global__ void k(const float* in, float* out, int n) {
  __shared__ float s[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = i;
  for (int r = 0; r < 1000; ++r) x = x * 1.5f + in[(i + r * 32) & 1023];
  s[threadIdx.x] = x;
  __syncthreads();
  if (i < n) out[i] = s[255 - threadIdx.x];
}
)cuda";
  Model model(source);
  model.traffic = {};
  model.occupancy.blocks_per_sm = 1;
  const Prediction p = model.predicted();
  const TimeBounds& b = p.bounds;
  const double arithmetic = std::max({b.issue, b.fp32, b.integer});
  EXPECT_GT(b.load_store, 0.2 * largest(b));
  EXPECT_LT(p.time.median_seconds, 0.9 * (arithmetic + b.load_store + b.latency));
}

TEST(TimingModel, ManyTinyBlocksTakeTheirLaunches) {
  Model model;
  model.traffic = {};
  model.launch.block = {32, 1, 1};
  model.occupancy.warps_per_block = 1;
  model.occupancy.blocks_per_sm = 32;
  model.launch.grid = {2'000'000, 1, 1};
  const Prediction p = model.predicted();
  const DeviceSpec h200 = test::device("h200");
  EXPECT_NEAR(p.time.median_seconds, 2e6 / h200.blocks_per_second + h200.kernel_launch_seconds,
              1e-9);
  EXPECT_EQ(p.bottleneck, "launch of blocks");
  DeviceSpec slower = h200;
  slower.blocks_per_second /= 2.0;
  EXPECT_GT(model.predicted(slower).time.median_seconds, 1.8 * p.time.median_seconds);
}

// Registers that do not fit go to local memory, on a full GPU beyond what the caches hold.
TEST(TimingModel, SpillsThatNoCacheHoldsGoToMemory) {
  const char* const body = R"cuda(
k(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x[96];
#pragma unroll
  for (int j = 0; j < 96; ++j) x[j] = in[(i + j) & 1023];
#pragma unroll 1
  for (int r = 0; r < 100; ++r) {
#pragma unroll
    for (int j = 0; j < 96; ++j) x[j] = x[j] * x[(j + 7) % 96] + 1.0f;
  }
  float sum = 0.0f;
#pragma unroll
  for (int j = 0; j < 96; ++j) sum += x[j];
  if (i < n) out[i] = sum;
}
)cuda";
  Model roomy(std::string("__global__ void ") + body);
  Model spilled(std::string("__global__ void __launch_bounds__(256, 8) ") + body);
  const DeviceSpec h200 = test::device("h200");
  const auto beyond_traffic = [&](const Model& model) {
    const TimeBounds b = model.predicted().bounds;
    return b.dram - (model.traffic.dram_read_bytes + model.traffic.dram_write_bytes) /
                        h200.dram_bytes_per_second;
  };
  EXPECT_NEAR(beyond_traffic(roomy), 0.0, 1e-12);
  // At least 64 words of each of the 2^20 threads are read every round, hardly any from a cache.
  EXPECT_GT(beyond_traffic(spilled), 0.5 * 64 * 4.0 * (1 << 20) * 100 / h200.dram_bytes_per_second);
  EXPECT_GT(spilled.seconds(), 5.0 * roomy.seconds());
  // Few blocks keep theirs in the L1 and L2.
  spilled.launch.grid = {16, 1, 1};
  EXPECT_NEAR(beyond_traffic(spilled), 0.0, 1e-12);
}

}  // namespace
}  // namespace regraph::timing_model_test
