#include "eval/model/work.h"

#include <gtest/gtest.h>

namespace regraph::work_test {
namespace {

using ptx::InstructionClass;

ptx::InstructionProfile executed(InstructionClass kind, std::uint64_t warps,
                                 std::uint64_t lanes = 32) {
  ptx::InstructionProfile p;
  p.instruction_class = kind;
  p.warp_executions = warps;
  p.thread_executions = warps * lanes;
  return p;
}

ptx::InstructionProfile access(InstructionClass kind, std::uint64_t requests, int bytes,
                               std::uint64_t sectors, std::uint64_t lines,
                               std::uint64_t wavefronts) {
  ptx::InstructionProfile p = executed(kind, requests);
  p.access_bytes = bytes;
  p.requests = requests;
  p.sectors = requests * sectors;
  p.lines = requests * lines;
  p.wavefronts = requests * wavefronts;
  return p;
}

ptx::Profile profile_of(std::uint64_t warps, std::vector<ptx::InstructionProfile> instructions) {
  ptx::Profile profile;
  profile.warps = warps;
  profile.blocks = 1;
  profile.instructions = std::move(instructions);
  return profile;
}

TEST(WorkOf, AnEmptyProfileIsNoWork) {
  const WarpWork work = work_of({});
  EXPECT_EQ(work.all, 0.0);
  EXPECT_EQ(work.issued, 0.0);
  EXPECT_EQ(work.active_lanes, 0.0);
}

TEST(WorkOf, AveragesOverWarpsAndSortsByPipe) {
  const WarpWork work = work_of(profile_of(
      4, {executed(InstructionClass::fp32_fma, 40), executed(InstructionClass::fp32_other, 4),
          executed(InstructionClass::integer, 8), executed(InstructionClass::logic, 4),
          executed(InstructionClass::integer_multiply, 12), executed(InstructionClass::fp64, 16),
          executed(InstructionClass::branch, 4), executed(InstructionClass::barrier, 8),
          executed(InstructionClass::shuffle, 20)}));
  EXPECT_DOUBLE_EQ(work.fp32, 11.0);
  EXPECT_DOUBLE_EQ(work.integer, 3.0);
  EXPECT_DOUBLE_EQ(work.integer_multiply, 3.0);
  EXPECT_DOUBLE_EQ(work.fp64, 4.0);
  EXPECT_DOUBLE_EQ(work.branches, 1.0);
  EXPECT_DOUBLE_EQ(work.barriers, 2.0);
  EXPECT_DOUBLE_EQ(work.shuffle, 5.0);
  EXPECT_DOUBLE_EQ(work.all, 29.0);
  EXPECT_DOUBLE_EQ(work.issued, 29.0);
  EXPECT_DOUBLE_EQ(work.active_lanes, 32.0);
}

TEST(WorkOf, MovesTakeNoSlotAndDivisionsTakeMany) {
  const WarpWork moves = work_of(profile_of(1, {executed(InstructionClass::move, 10)}));
  EXPECT_DOUBLE_EQ(moves.issued, 0.0);
  EXPECT_DOUBLE_EQ(moves.all, 10.0);
  const WarpWork divisions = work_of(profile_of(1, {executed(InstructionClass::divide, 10)}));
  EXPECT_GT(divisions.issued, 50.0);
}

TEST(WorkOf, LanesAreAveragedOverExecutions) {
  const WarpWork work = work_of(profile_of(2, {executed(InstructionClass::integer, 30, 32),
                                               executed(InstructionClass::integer, 10, 8)}));
  EXPECT_DOUBLE_EQ(work.active_lanes, (30 * 32 + 10 * 8) / 40.0);
}

TEST(WorkOf, GlobalAccessesCostTagsOrBanks) {
  // Coalesced: one line, one pass.
  const auto coalesced = access(InstructionClass::load_global, 10, 4, 4, 1, 1);
  EXPECT_DOUBLE_EQ(work_of(profile_of(1, {coalesced})).global_passes, 10.0);
  // Every lane a line of its own: 0.25 * 32 + 0.55 clocks.
  const auto scattered = access(InstructionClass::load_global, 10, 4, 32, 32, 1);
  EXPECT_NEAR(work_of(profile_of(1, {scattered})).global_passes, 85.5, 1e-9);
  // 16 bytes a lane: four lines, but the banks need four passes.
  const auto wide = access(InstructionClass::load_global, 10, 16, 16, 4, 4);
  EXPECT_DOUBLE_EQ(work_of(profile_of(1, {wide})).global_passes, 40.0);
  const WarpWork both = work_of(profile_of(2, {coalesced, wide}));
  EXPECT_DOUBLE_EQ(both.global_load_requests, 10.0);
  EXPECT_DOUBLE_EQ(both.global_load_sectors, 100.0);
  EXPECT_DOUBLE_EQ(both.global_load_bytes, 100.0);
}

TEST(WorkOf, SharedConflictsShowAgainstTheIdeal) {
  const WarpWork work =
      work_of(profile_of(1, {access(InstructionClass::load_shared, 10, 4, 0, 0, 32),
                             access(InstructionClass::store_shared, 5, 16, 0, 0, 4)}));
  EXPECT_DOUBLE_EQ(work.shared_wavefronts, 340.0);
  EXPECT_DOUBLE_EQ(work.shared_ideal_wavefronts, 30.0);
  EXPECT_DOUBLE_EQ(work.shared_requests, 15.0);
}

TEST(WorkOf, AccessesJoinedIntoOneTakeTheirShareOfASlot) {
  const auto load = access(InstructionClass::load_shared, 10, 4, 0, 0, 1);
  const ptx::Profile profile = profile_of(1, {load, load, load, load});
  EXPECT_DOUBLE_EQ(work_of(profile).issued, 40.0);
  EXPECT_DOUBLE_EQ(work_of(profile, {0.25, 0.25, 0.25, 0.25}).issued, 10.0);
}

TEST(WorkOf, AtomicsCountAsMemoryAndAtomics) {
  const WarpWork work =
      work_of(profile_of(1, {access(InstructionClass::atomic_global, 3, 4, 4, 1, 1),
                             access(InstructionClass::atomic_shared, 2, 4, 0, 0, 1)}));
  EXPECT_DOUBLE_EQ(work.atomics, 5.0);
  EXPECT_DOUBLE_EQ(work.memory, 5.0);
  EXPECT_DOUBLE_EQ(work.global_loads, 0.0);
}

TEST(WorkOf, SharedAtomicsTakeAPassForEachLaneUnlessTheyIncrement) {
  ptx::InstructionProfile p = access(InstructionClass::atomic_shared, 10, 4, 0, 0, 3);
  p.bank_lanes = 80;
  p.word_lanes = 50;
  EXPECT_DOUBLE_EQ(work_of(profile_of(1, {p})).shared_wavefronts, 80.0);
  p.atomic_increments = true;
  EXPECT_DOUBLE_EQ(work_of(profile_of(1, {p})).shared_wavefronts, 30.0);
  p.atomic_returns = true;
  EXPECT_DOUBLE_EQ(work_of(profile_of(1, {p})).shared_wavefronts, 80.0);
  p.atomic_floating = true;
  EXPECT_GT(work_of(profile_of(1, {p})).shared_wavefronts, 3.0 * 80.0);
}

}  // namespace
}  // namespace regraph::work_test
