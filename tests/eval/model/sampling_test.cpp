#include "eval/model/sampling.h"

#include "base/random.h"
#include "eval/model/model_test_support.h"
#include "eval/verify/bench_sample.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace regraph::sampling_test {
namespace {

TEST(RepresentativeBlocks, AreAllOfASmallGrid) {
  EXPECT_EQ(verify::representative_blocks({1, 1, 1}), (std::vector<std::uint64_t>{0}));
  EXPECT_EQ(verify::representative_blocks({2, 2, 1}), (std::vector<std::uint64_t>{0, 1, 2, 3}));
}

TEST(RepresentativeBlocks, LieWithinTheGridAndAscend) {
  const std::uint32_t most[3] = {2147483647, 65535, 65535};
  for (std::uint64_t draw = 0; draw < 2000; ++draw) {
    std::uint32_t extents[3];
    for (std::uint64_t axis = 0; axis < 3; ++axis) {
      // Small, medium and extreme extents.
      const std::uint64_t bits = random_bits(draw, axis, 1) % 32;
      const std::uint64_t range = std::min<std::uint64_t>(std::uint64_t{1} << bits, most[axis]);
      extents[axis] = 1 + static_cast<std::uint32_t>(random_bits(draw, axis, 2) % range);
    }
    const Dim3 grid{extents[0], extents[1], extents[2]};
    const std::vector<std::uint64_t> blocks = verify::representative_blocks(grid);
    ASSERT_FALSE(blocks.empty());
    EXPECT_LE(blocks.size(), 4u);
    EXPECT_TRUE(std::is_sorted(blocks.begin(), blocks.end()));
    EXPECT_EQ(std::adjacent_find(blocks.begin(), blocks.end()), blocks.end());
    EXPECT_LT(blocks.back(), grid.count());
  }
}

TEST(SampleLaunch, CountsACopyExactly) {
  const test::SampledKernel kernel(test::copy_problem(), test::kCopy);
  const LaunchSample& sample = kernel.sample();
  EXPECT_EQ(sample.profile.blocks, verify::representative_blocks(kernel.launch().grid).size());
  EXPECT_EQ(sample.profile.warps, 8 * sample.profile.blocks);
  // One load and one store a thread: 4 MiB read, 4 MiB written, nothing to reuse.
  const double bytes = 4.0 * (1 << 20);
  EXPECT_NEAR(sample.traffic.l1_load_sectors * 32.0, bytes, 0.02 * bytes);
  EXPECT_NEAR(sample.traffic.dram_read_bytes, bytes, 0.05 * bytes);
  EXPECT_EQ(sample.traffic.grid_blocks, kernel.launch().grid.count());
  EXPECT_FALSE(sample.traffic.truncated);
}

TEST(SampleLaunch, IsDeterministic) {
  const Problem problem = test::copy_problem();
  const test::SampledKernel first(problem, test::kCopy);
  const test::SampledKernel second(problem, test::kCopy);
  EXPECT_EQ(first.sample().traffic.dram_read_bytes, second.sample().traffic.dram_read_bytes);
  EXPECT_EQ(first.sample().profile.thread_instructions,
            second.sample().profile.thread_instructions);
}

Result<LaunchSample> sampled(const Problem& problem, const std::string& source,
                             const Cancellation& cancellation = {}) {
  const CompiledKernel kernel = test::compiled(source);
  const auto program = ptx::Program::load(kernel.ptx, kernel.entry);
  const auto launch = concretise(problem.launch.launches.front(), problem.bench.front());
  const DeviceSpec device = test::device("h200");
  const auto occupancy = occupancy_of(device, static_cast<int>(launch->block.count()), 32, 0);
  return sample_launch(problem, *program, *launch, problem.bench.front(), device, *occupancy, 0,
                       cancellation);
}

// Blocks take their places in the output from a counter: those the cache simulation took must be
// free again when blocks are sampled.
constexpr const char* kCompaction = R"cuda(
__device__ unsigned taken;
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[atomicAdd(&taken, 1u)] = in[i];
}
)cuda";

TEST(SampleLaunch, PlacesFromACounterAreFollowed) {
  const auto sample = sampled(test::copy_problem(), kCompaction);
  ASSERT_TRUE(sample.ok()) << sample.error().message;
  EXPECT_EQ(sample->fault.kind, ptx::FaultKind::none) << sample->fault.message;
  EXPECT_NEAR(sample->traffic.atomics.lanes, 1 << 20, 1.0);
  EXPECT_EQ(sample->traffic.atomics.returning_sector_operations, (1 << 20) / 32);
}

// With all blocks in one wave, those sampled first run again and run out of places: no fault of the
// kernel's.
TEST(SampleLaunch, CountersThatRunOutAreNotSupported) {
  Problem problem = test::copy_problem();
  problem.bench.front()["n"] = 4096;
  const auto sample = sampled(problem, kCompaction);
  if (sample.ok()) {
    EXPECT_EQ(sample->fault.kind, ptx::FaultKind::none) << sample->fault.message;
  } else {
    EXPECT_EQ(sample.error().code, ErrorCode::unsupported) << sample.error().message;
  }
}

TEST(SampleLaunch, AFaultAtTheBenchSizeIsAResult) {
  const auto sample = sampled(test::copy_problem(), R"cuda(
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i + (n > 100000 ? n : 0)];
}
)cuda");
  ASSERT_TRUE(sample.ok()) << sample.error().message;
  EXPECT_EQ(sample->fault.kind, ptx::FaultKind::out_of_bounds);
  EXPECT_NE(sample->fault.message.find("'in'"), std::string::npos) << sample->fault.message;
}

TEST(SampleLaunch, BuffersNoDeviceHoldsAreRefused) {
  Problem problem = test::copy_problem();
  problem.bench.front()["n"] = std::int64_t{1} << 62;
  problem.launch.launches.front().grid[0] = 1;
  const auto sample = sampled(problem, test::kCopy);
  ASSERT_FALSE(sample.ok());
  EXPECT_EQ(sample.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(sample.error().message.find("'in'"), std::string::npos) << sample.error().message;
}

TEST(SampleLaunch, LargeBuffersCostOnlyWhatIsTouched) {
  Problem problem = test::copy_problem();
  problem.bench.front()["n"] = 2'000'000'000;  // 16 GB
  const auto sample = sampled(problem, test::kCopy);
  ASSERT_TRUE(sample.ok()) << sample.error().message;
  EXPECT_NEAR(sample->traffic.dram_read_bytes, 8e9, 0.1 * 8e9);
}

// The two representatives lie where nothing is done, as those of an escape-time picture may.
TEST(SampleLaunch, BlocksThatDifferAreLookedAtInLargerNumbers) {
  constexpr const char* kUnequal = R"cuda(
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = i < n ? in[i] : 0.0f;
  int rounds = blockIdx.x % 8 < 2 ? 200 : 0;
  for (int r = 0; r < rounds; ++r) x = x * 1.0001f + in[(i + r) % n];
  if (i < n) out[i] = x;
}
)cuda";
  const auto sample = sampled(test::copy_problem(), kUnequal);
  ASSERT_TRUE(sample.ok()) << sample.error().message;
  EXPECT_GT(sample->profile.blocks, 8u);
  EXPECT_GT(sample->spread_error, 0.05);
  double instructions = 0.0;
  for (const auto& one : sample->profile.instructions)
    instructions += static_cast<double>(one.warp_executions);
  // A quarter of the blocks does 200 rounds of a dozen instructions in each of 8 warps.
  EXPECT_GT(instructions / static_cast<double>(sample->profile.blocks), 1500.0);
}

TEST(SampleLaunch, AlikeBlocksStayTwo) {
  const auto sample = sampled(test::copy_problem(), test::kCopy);
  ASSERT_TRUE(sample.ok()) << sample.error().message;
  EXPECT_EQ(sample->profile.blocks, 2u);
  EXPECT_EQ(sample->spread_error, 0.0);
}

TEST(SampleLaunch, EndsWhenCancelled) {
  Cancellation cancelled;
  cancelled.request();
  const auto sample = sampled(test::copy_problem(), test::kCopy, cancelled);
  ASSERT_FALSE(sample.ok());
  EXPECT_EQ(sample.error().code, ErrorCode::cancelled);
}

}  // namespace
}  // namespace regraph::sampling_test
