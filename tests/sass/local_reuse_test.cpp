#include "sass/local_reuse.h"

#include "sass/sass_test_support.h"

#include <gtest/gtest.h>

namespace regraph::sass::local_reuse_test {
namespace {

struct Access {
  std::int32_t word;
  bool store = false;
  bool last = false;
  std::uint8_t bytes = 4;
  std::uint8_t base = kStackPointer;
};

// A loop around these accesses that runs `rounds` times.
LocalReuse reuse_in_loop(const std::vector<Access>& accesses, double rounds,
                         double frame_bytes = 4096.0) {
  MachineCode code;
  std::vector<ptx::FlowEffect> effects;
  for (const Access& access : accesses) {
    CodeInstruction one;
    one.what.operation_class =
        access.store ? OperationClass::store_local : OperationClass::load_local;
    one.what.access_bytes = access.bytes;
    one.what.local_base = access.base;
    one.what.local_offset = 4 * access.word;
    one.what.last_use = access.last;
    code.instructions.push_back(one);
    effects.emplace_back();
  }
  const auto count = static_cast<std::uint32_t>(accesses.size());
  code.instructions.resize(count + 2);
  effects.push_back({ptx::FlowEffect::Kind::branch, true, {0}});
  effects.push_back({ptx::FlowEffect::Kind::exit, false, {}});
  // The loop must be entered from a block before it.
  code.instructions.insert(code.instructions.begin(), CodeInstruction{});
  effects.insert(effects.begin(), ptx::FlowEffect{});
  effects[count + 1].targets = {1};
  code.flow = ptx::analyse_control_flow(effects, {0});
  ExecutionCounts counts;
  counts.executions.assign(code.instructions.size(), rounds);
  counts.executions.front() = 1.0;
  counts.executions.back() = 1.0;
  counts.active = counts.executions;
  counts.block_executions.assign(code.flow.blocks.size(), rounds);
  counts.block_executions[code.flow.block_of.front()] = 1.0;
  counts.block_executions[code.flow.block_of.back()] = 1.0;
  return local_reuse(code, counts, frame_bytes);
}

TEST(LocalReuse, ALoopComesBackToALineWhenItTouchedAllOthers) {
  const LocalReuse reuse = reuse_in_loop({{0}, {1}, {2}, {3}, {4}}, 100.0);
  EXPECT_DOUBLE_EQ(reuse.loaded, 500.0);
  EXPECT_DOUBLE_EQ(reuse.stored, 0.0);
  ASSERT_EQ(reuse.by_distance.size(), 2u);
  // The first round finds nothing.
  EXPECT_DOUBLE_EQ(reuse.by_distance.at(kMostDistance).loaded, 5.0);
  EXPECT_DOUBLE_EQ(reuse.by_distance.at(5).loaded, 495.0);
}

TEST(LocalReuse, WhatIsTouchedTwiceCountsOnce) {
  const LocalReuse reuse = reuse_in_loop({{0}, {0}, {1}, {1}}, 10.0);
  EXPECT_DOUBLE_EQ(reuse.by_distance.at(1).loaded, 20.0);
  EXPECT_DOUBLE_EQ(reuse.by_distance.at(2).loaded, 18.0);
}

TEST(LocalReuse, WideAccessesTouchALineAWord) {
  const LocalReuse reuse = reuse_in_loop({{0, false, false, 16}, {4, false, false, 8}}, 10.0);
  EXPECT_DOUBLE_EQ(reuse.loaded, 60.0);
  EXPECT_DOUBLE_EQ(reuse.by_distance.at(6).loaded, 54.0);
}

TEST(LocalReuse, AStoreIsWrittenOnceAtItsLongestDistance) {
  // Word 0 is stored, read at once, and read again when 3 others were touched; then it begins anew.
  const LocalReuse reuse = reuse_in_loop({{0, true}, {0}, {1}, {2}, {3}, {0}}, 10.0);
  double written = 0.0;
  for (const auto& [distance, lines] : reuse.by_distance)
    written += lines.written;
  EXPECT_DOUBLE_EQ(written, 9.0);  // the last round's is still there
  EXPECT_DOUBLE_EQ(reuse.by_distance.at(4).written, 9.0);
  EXPECT_DOUBLE_EQ(reuse.by_distance.at(1).loaded, 10.0);
}

TEST(LocalReuse, TheLastUseLeavesNothingBehind) {
  // A spill that lives for a moment, around which 2 words are read each round: they never meet it.
  const LocalReuse kept = reuse_in_loop({{0, true}, {0}, {1}, {2}}, 10.0);
  const LocalReuse dropped = reuse_in_loop({{0, true}, {0, false, true}, {1}, {2}}, 10.0);
  EXPECT_DOUBLE_EQ(kept.by_distance.at(3).loaded, 18.0);
  EXPECT_DOUBLE_EQ(dropped.by_distance.at(2).loaded, 18.0);
  EXPECT_DOUBLE_EQ(dropped.by_distance.at(1).written, 10.0);
}

TEST(LocalReuse, PointersAreTakenToWalkThroughTheFrame) {
  const LocalReuse reuse =
      reuse_in_loop({{0, false, false, 4, 9}, {1, true, false, 4, 9}}, 10.0, 256.0);
  EXPECT_DOUBLE_EQ(reuse.by_distance.at(64).loaded, 10.0);
  EXPECT_DOUBLE_EQ(reuse.by_distance.at(64).written, 10.0);
}

TEST(LocalReuse, ReadsTheSpillsOfARealKernel) {
  const std::string source =
      "__global__ void __maxnreg__(32) k(const float* in, float* out, int n) {\n"
      "  float x[48];\n#pragma unroll\n  for (int j = 0; j < 48; ++j) x[j] = in[threadIdx.x + j];\n"
      "#pragma unroll 1\n  for (int i = 0; i < n; ++i) {\n#pragma unroll\n"
      "    for (int j = 0; j < 48; ++j) x[j] = x[j] * x[(j + 7) % 48] + in[i];\n  }\n"
      "#pragma unroll\n  for (int j = 0; j < 48; ++j) out[threadIdx.x + j] = x[j];\n}\n";
  for (const char* architecture : test::kArchitectures) {
    const test::CountedKernel kernel(source, 20, architecture);
    const LocalReuse reuse = local_reuse(kernel.code(), kernel.counts(), 256.0);
    double listed = 0.0;
    double close = 0.0;
    for (const auto& [distance, lines] : reuse.by_distance) {
      listed += lines.loaded;
      if (distance <= 64) close += lines.loaded;
    }
    // 48 values and some of the loop in 32 registers: at least 16 are in memory every round.
    EXPECT_GT(reuse.loaded, 16.0 * 20.0) << architecture;
    EXPECT_NEAR(listed, reuse.loaded, 1e-6) << architecture;
    // All are on the stack, at places that were read.
    EXPECT_GT(close, 0.9 * listed) << architecture;
  }
  const test::CountedKernel none(test::kernel_with("out[threadIdx.x] = in[threadIdx.x];"), 1);
  EXPECT_TRUE(local_reuse(none.code(), none.counts(), 0.0).empty());
}

}  // namespace
}  // namespace regraph::sass::local_reuse_test
