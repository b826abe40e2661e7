#include "eval/verify/repeated_runs.h"

#include "kernel/manifest.h"

#include <gtest/gtest.h>

#include <cstring>

namespace regraph::verify::repeated_runs_test {
namespace {

Problem sums() {
  const auto manifest = parse_manifest(
      "sizes: {n: 3}\nargs: {y: {dir: out, shape: [n]}, c: {dir: out, shape: [1]}}\n"
      "launch: {block: 32, grid: 1}\ntests: [{n: 3}]\n",
      "k.yaml");
  EXPECT_TRUE(manifest.ok());
  auto problem = make_problem(
      *manifest,
      {"k", {{"y", ScalarType::f32, true, false, 1}, {"c", ScalarType::i32, true, false, 1}}},
      "k.cu", "");
  EXPECT_TRUE(problem.ok()) << problem.error().message;
  return *problem;
}

Buffers outputs(std::vector<float> y, int count) {
  Buffers buffers(2);
  buffers[0].resize(y.size() * sizeof(float));
  std::memcpy(buffers[0].data(), y.data(), buffers[0].size());
  buffers[1].resize(sizeof(count));
  std::memcpy(buffers[1].data(), &count, sizeof(count));
  return buffers;
}

TEST(RepeatedRuns, OnlyAtomicSumsOfFloatsMayDiffer) {
  const Problem problem = sums();
  const Symbols symbols = {{"n", 3}};
  const Arithmetic arithmetic{1000.0, false, false};
  const Buffers first = outputs({1.0f, 2.0f, 3.0f}, 5);
  EXPECT_FALSE(
      difference_of_runs(problem, symbols, first, first, false, arithmetic).message.has_value());
  // In the last place.
  const Buffers close = outputs({1.0f, 2.0000002f, 3.0f}, 5);
  const auto found = difference_of_runs(problem, symbols, first, close, false, arithmetic).message;
  ASSERT_TRUE(found.has_value());
  EXPECT_NE(found->find("element 1"), std::string::npos) << *found;
  EXPECT_FALSE(
      difference_of_runs(problem, symbols, first, close, true, arithmetic).message.has_value());
  // A lost update is more than rounding; an integer never rounds.
  EXPECT_TRUE(difference_of_runs(problem, symbols, first, outputs({1.0f, 2.0001f, 3.0f}, 5), true,
                                 arithmetic)
                  .message.has_value());
  EXPECT_TRUE(
      difference_of_runs(problem, symbols, first, outputs({1.0f, 2.0f, 3.0f}, 4), true, arithmetic)
          .message.has_value());
}

// What the original's atomics do a candidate's may do, too.
TEST(RepeatedRuns, TheOriginalsSpreadIsAllowed) {
  const Problem problem = sums();
  const Symbols symbols = {{"n", 3}};
  const Arithmetic arithmetic{1000.0, false, false};
  const Buffers first = outputs({1.0f, 2.0f, 3.0f}, 5);
  const Buffers far = outputs({1.0f, 2.0001f, 3.0f}, 5);
  const RunsDifference alone = difference_of_runs(problem, symbols, first, far, true, arithmetic);
  EXPECT_TRUE(alone.message.has_value());
  EXPECT_GT(alone.relative_error, 1e-5);
  EXPECT_FALSE(difference_of_runs(problem, symbols, first, far, true, arithmetic, 1e-3).message);
  // Nobody's, without atomics; nor an integer's.
  EXPECT_TRUE(difference_of_runs(problem, symbols, first, far, false, arithmetic, 1e-3).message);
  EXPECT_TRUE(difference_of_runs(problem, symbols, first, outputs({1.0f, 2.0f, 3.0f}, 4), true,
                                 arithmetic, 1e-3)
                  .message);
}

TEST(RepeatedRuns, AtomicAdditionsAreFoundInPtx) {
  EXPECT_TRUE(adds_floats_atomically("\tatom.global.add.f32 \t%f1, [%rd1], %f2;"));
  EXPECT_TRUE(adds_floats_atomically("\tred.shared.add.noftz.bf16x2 \t[%r1], %r2;"));
  EXPECT_FALSE(adds_floats_atomically("\tatom.global.add.u32 \t%r1, [%rd1], 1;\n\tadd.f32 %f1;"));
  EXPECT_FALSE(adds_floats_atomically("\tred.global.max.s32 \t[%rd1], %r1;"));
  EXPECT_FALSE(adds_floats_atomically(""));
}

}  // namespace
}  // namespace regraph::verify::repeated_runs_test
