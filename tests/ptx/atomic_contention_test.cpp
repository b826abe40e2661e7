// Where atomics meet, counted by hand and over a simulated grid.
#include "ptx/caches/atomic_contention.h"

#include "ptx/caches/cache_simulation.h"
#include "ptx/decode/code.h"
#include "ptx/ptx_test_support.h"

namespace regraph::ptx::atomic_contention_test {
namespace {

std::vector<std::uint64_t> words(const std::vector<std::uint64_t>& indices) {
  std::vector<std::uint64_t> addresses(32, 0);
  for (std::size_t i = 0; i < indices.size(); ++i)
    addresses[i] = 4 * indices[i];
  return addresses;
}

TEST(AtomicContentionTest, PassesAreTheMostLanesOfOneWordInASector) {
  AtomicContention contention;
  // Sector 0: word 0 three times, word 1 once; sector 1 (word 8): once. Lane 5 is off.
  contention.add(words({0, 0, 1, 0, 8, 0}).data(), 0b011111, 4, {}, 0, 4096);
  const AtomicTraffic traffic = contention.traffic();
  EXPECT_EQ(traffic.lanes, 5);
  EXPECT_EQ(traffic.payload_bytes, 20);
  EXPECT_EQ(traffic.sector_operations, 2);
  EXPECT_EQ(traffic.returning_sector_operations, 0);
  EXPECT_EQ(traffic.hottest_full_passes, 0);
  EXPECT_EQ(traffic.hottest_partial_passes, 4);
  EXPECT_EQ(traffic.hottest_floating_passes, 0);
  EXPECT_EQ(traffic.footprint_bytes, 4096);
}

TEST(AtomicContentionTest, WholeSectorsAndSeparateStretches) {
  AtomicContention contention;
  contention.add(words({0, 1, 2, 3, 4, 5, 6, 7, 0}).data(), 0x1ff, 4, {.floating = true}, 0, 64);
  contention.add(words({128}).data(), 1, 4, {.returns = true}, 512, 64);
  const AtomicTraffic traffic = contention.traffic();
  EXPECT_EQ(traffic.hottest_full_passes, 1);
  EXPECT_EQ(traffic.hottest_partial_passes, 1);
  EXPECT_EQ(traffic.hottest_floating_passes, 2);
  EXPECT_EQ(traffic.returning_sector_operations, 1);
  EXPECT_EQ(traffic.footprint_bytes, 128);
  contention.clear();
  EXPECT_EQ(contention.traffic().lanes, 0);
}

// Two halves of word 0, one of word 1: a round of three lanes and one of the lane that lost.
TEST(AtomicContentionTest, HalvesSwapTheWordsAroundThem) {
  AtomicContention contention;
  std::vector<std::uint64_t> addresses(32, 0);
  addresses[1] = 2;
  addresses[2] = 4;
  const AtomicTraits half = {.floating = true, .swaps_words = true};
  contention.add(addresses.data(), 0b111, 2, half, 0, 64);
  const AtomicTraffic one_by_one = contention.traffic();
  EXPECT_EQ(one_by_one.lanes, 3);
  EXPECT_EQ(one_by_one.payload_bytes, 32);
  EXPECT_EQ(one_by_one.sector_operations, 2);
  EXPECT_EQ(one_by_one.returning_sector_operations, 2);
  EXPECT_EQ(one_by_one.hottest_partial_passes, 3);  // two lanes on word 0, then one
  EXPECT_EQ(one_by_one.hottest_full_passes, 0);
  EXPECT_EQ(one_by_one.hottest_floating_passes, 3);
  contention.clear();
  addresses[1] = 4;
  contention.add(addresses.data(), 0b11, 4, {.floating = true}, 0, 64);
  const AtomicTraffic pairs = contention.traffic();
  EXPECT_EQ(pairs.payload_bytes, 8);
  EXPECT_EQ(pairs.sector_operations, 1);
  EXPECT_EQ(pairs.returning_sector_operations, 0);
  EXPECT_EQ(pairs.hottest_partial_passes, 1);
}

// Vectors of four floats: two fill a sector.
TEST(AtomicContentionTest, VectorsAreOneRequest) {
  AtomicContention contention;
  contention.add(words({0, 4, 8}).data(), 0b111, 16, {.floating = true}, 0, 4096);
  const AtomicTraffic traffic = contention.traffic();
  EXPECT_EQ(traffic.lanes, 3);
  EXPECT_EQ(traffic.payload_bytes, 24);
  EXPECT_EQ(traffic.sector_operations, 2);
  EXPECT_EQ(traffic.hottest_full_passes, 1);
  EXPECT_EQ(traffic.hottest_partial_passes, 1);
  EXPECT_EQ(traffic.hottest_floating_passes, 1);
}

TEST(AtomicContentionTest, ManyRequestsAreExtrapolated) {
  AtomicContention contention;
  const std::vector<std::uint64_t> addresses = words({3, 3});
  for (std::uint64_t i = 0; i < 3 * AtomicContention::kMostRequests; ++i)
    contention.add(addresses.data(), 3, 4, {}, 0, 4096);
  const AtomicTraffic traffic = contention.traffic();
  EXPECT_DOUBLE_EQ(traffic.lanes, 6.0 * AtomicContention::kMostRequests);
  EXPECT_DOUBLE_EQ(traffic.hottest_partial_passes, 6.0 * AtomicContention::kMostRequests);
  EXPECT_DOUBLE_EQ(traffic.footprint_bytes, 4096);
}

constexpr const char* kCount = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry count(.param .u64 counters, .param .u32 mask) {
  .reg .b32 %r<9>;
  .reg .b64 %rd<5>;
  .shared .align 4 .b8 own[64];
  ld.param.u64 %rd1, [counters];
  ld.param.u32 %r1, [mask];
  mov.u32 %r2, %tid.x;
  and.b32 %r3, %r2, %r1;
  mul.wide.u32 %rd2, %r3, 4;
  add.s64 %rd3, %rd1, %rd2;
  atom.global.add.u32 %r4, [%rd3], 1;
  atom.global.add.u32 %r5, [%rd3], %r2;
  st.shared.u32 [own], %r5;
  mov.u32 %r6, own;
  atom.shared.add.u32 %r7, [%r6], 1;
  red.global.add.u32 [%rd3], %r2;
  ret;
}
)";

TEST(AtomicTraitsTest, FindsIncrementsAndResultsThatAreRead) {
  const Program program = load_or_die(kCount, "count");
  std::vector<AtomicTraits> atomics;
  for (const auto& [mnemonic, traits] : [&] {
         std::vector<std::pair<std::string_view, AtomicTraits>> all;
         for (const InstructionInfo& info : program.code().instructions)
           all.emplace_back(info.mnemonic, info.atomic);
         return all;
       }()) {
    if (mnemonic.starts_with("atom") || mnemonic.starts_with("red")) atomics.push_back(traits);
  }
  ASSERT_EQ(atomics.size(), 4U);
  EXPECT_TRUE(atomics[0].increments);
  EXPECT_FALSE(atomics[0].returns);
  EXPECT_FALSE(atomics[1].increments);
  EXPECT_TRUE(atomics[1].returns);
  EXPECT_TRUE(atomics[2].increments);
  EXPECT_FALSE(atomics[3].returns);
  EXPECT_FALSE(atomics[3].floating);
}

TEST(AtomicTraitsTest, SingleHalvesSwapWords) {
  const Program program = load_or_die(R"(
.version 8.1
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p) {
  .reg .b16 %h<2>;
  .reg .b32 %r<2>;
  .reg .f32 %f<2>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [p];
  red.global.add.noftz.f16 [%rd1], %h1;
  red.global.add.noftz.bf16 [%rd1], %h1;
  red.global.add.noftz.f16x2 [%rd1], %r1;
  red.global.add.noftz.v2.f16 [%rd1], {%h1, %h1};
  red.global.add.v2.f32 [%rd1], {%f1, %f1};
  ret;
}
)",
                                      "k");
  std::vector<bool> swaps;
  for (const InstructionInfo& info : program.code().instructions) {
    if (!info.mnemonic.starts_with("red")) continue;
    swaps.push_back(info.atomic.swaps_words);
    EXPECT_TRUE(info.atomic.floating);
    EXPECT_EQ(info.atomic.halves, info.mnemonic.find("f16") != std::string_view::npos);
  }
  EXPECT_EQ(swaps, (std::vector<bool>{true, true, false, false, false}));
}

TEST(AtomicContentionTest, GridsAreCountedWhole) {
  const Program program = load_or_die(kCount, "count");
  DeviceMemory memory;
  Parameters parameters;
  parameters.add(*memory.allocate("counters", 4096, BufferAccess::read_write));
  parameters.add(3);
  LaunchArguments arguments;
  arguments.grid = {100, 1, 1};
  arguments.block = {64, 1, 1};
  arguments.parameters = parameters.bytes();
  CacheGeometry geometry;
  geometry.sm_count = 4;
  geometry.resident_blocks_per_sm = 2;
  geometry.l1_bytes = 32 << 10;
  geometry.l2_bytes = 1 << 20;
  auto traffic = simulate_caches(program, arguments, memory, geometry, {}, Cancellation());
  ASSERT_TRUE(traffic.ok()) << traffic.error().message;
  // 100 blocks of two warps, three atomics each, eight lanes on each of four words.
  EXPECT_DOUBLE_EQ(traffic->atomics.lanes, 100.0 * 64 * 3);
  EXPECT_DOUBLE_EQ(traffic->atomics.hottest_partial_passes, 100.0 * 2 * 3 * 8);
  EXPECT_DOUBLE_EQ(traffic->atomics.returning_sector_operations, 200.0);
  // The one sector is fetched once, however many waves there are.
  EXPECT_DOUBLE_EQ(traffic->atomic_lone_dram_sectors, 1.0);
  EXPECT_DOUBLE_EQ(traffic->dram_read_bytes, 32.0);
  EXPECT_DOUBLE_EQ(traffic->l2_write_bytes, 0.0);
}

// The block with the last ticket stores: the slice runs the atomic that the branch depends on.
TEST(AtomicContentionTest, BranchesOnTicketsAreFollowed) {
  const Program program = load_or_die(R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry last(.param .u64 tickets, .param .u64 out) {
  .reg .pred %p<2>;
  .reg .b32 %r<4>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [tickets];
  ld.param.u64 %rd2, [out];
  atom.global.add.u32 %r1, [%rd1], 1;
  setp.ne.u32 %p1, %r1, 4;
  @%p1 bra done;
  st.global.u32 [%rd2], %r1;
done:
  ret;
}
)",
                                      "last");
  DeviceMemory memory;
  Parameters parameters;
  for (int i = 0; i < 2; ++i)
    parameters.add(*memory.allocate("buffer", 64, BufferAccess::read_write));
  LaunchArguments arguments;
  arguments.grid = {6, 1, 1};
  arguments.block = {1, 1, 1};
  arguments.parameters = parameters.bytes();
  CacheGeometry geometry;
  geometry.sm_count = 8;
  geometry.l1_bytes = 32 << 10;
  geometry.l2_bytes = 1 << 20;
  auto traffic = simulate_caches(program, arguments, memory, geometry, {}, Cancellation());
  ASSERT_TRUE(traffic.ok()) << traffic.error().message;
  EXPECT_DOUBLE_EQ(traffic->atomics.returning_sector_operations, 6.0);
}

// Lanes of shared atomics that meet in a word, and in a bank.
TEST(AtomicContentionTest, SharedAtomicsCountLanes) {
  const Program program = load_or_die(kCount, "count");
  DeviceMemory memory;
  Parameters parameters;
  parameters.add(*memory.allocate("counters", 4096, BufferAccess::read_write));
  parameters.add(3);
  LaunchArguments arguments;
  arguments.grid = {1, 1, 1};
  arguments.block = {32, 1, 1};
  arguments.parameters = parameters.bytes();
  const RunResult result = run(program, arguments, memory, {}, Cancellation());
  ASSERT_TRUE(result.ok()) << result.fault.message;
  int found = 0;
  for (const InstructionProfile& p : result.profile.instructions) {
    if (p.instruction_class != InstructionClass::atomic_shared) continue;
    ++found;
    EXPECT_TRUE(p.atomic_increments);
    EXPECT_EQ(p.bank_lanes, 32U);
    EXPECT_EQ(p.word_lanes, 32U);
    EXPECT_EQ(p.wavefronts, 1U);
    EXPECT_EQ(p.sectors, 0U);
    EXPECT_EQ(p.lines, 0U);
  }
  EXPECT_EQ(found, 1);
}

}  // namespace
}  // namespace regraph::ptx::atomic_contention_test
