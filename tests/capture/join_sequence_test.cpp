#include "capture/problem/join_sequence.h"

#include "capture/problem/derive_manifest.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace regraph::capture::join_sequence_test {
namespace {

// block_sums(const float* x, float* partial, int n), then
// final_sum(const float* data, float* out, int count)
class JoinSequence : public testing::Test {
 protected:
  void SetUp() override {
    kernel.symbol = "_Z10block_sumsPKfPfi";
    kernel.stages = {{"_Z10block_sumsPKfPfi", 3}, {"_Z9final_sumPKfPfi", 3}};
    kernel.slots = {{0, 8}, {8, 8}, {16, 4}, {24, 8}, {32, 8}, {40, 4}};
    signatures = {{"block_sums",
                   {{"x", ScalarType::f32, true, true},
                    {"partial", ScalarType::f32, true},
                    {"n", ScalarType::i32}}},
                  {"final_sum",
                   {{"data", ScalarType::f32, true, true},
                    {"out", ScalarType::f32, true},
                    {"count", ScalarType::i32}}}};
    kernel.kept = {launch(100'000), launch(3000)};
  }

  // Allocations: 1 x, 2 partial, 3 out.
  static KeptLaunch launch(std::int32_t n) {
    KeptLaunch one;
    const std::int32_t blocks = (n + 255) / 256;
    one.grid = {static_cast<std::uint32_t>(blocks), 1, 1};
    one.block = {256, 1, 1};
    one.stages = {{one.grid, one.block, 0}, {{1, 1, 1}, {64, 1, 1}, 0}};
    one.parameters.resize(44);
    std::memcpy(one.parameters.data() + 16, &n, sizeof n);
    std::memcpy(one.parameters.data() + 40, &blocks, sizeof blocks);
    const auto bytes = [](std::int32_t elements) {
      return static_cast<std::uint64_t>(elements) * 4;
    };
    one.pointers = {{0, 0, 1, 0, bytes(n), ""},
                    {1, 0, 2, 0, bytes(blocks), ""},
                    {3, 0, 2, 0, bytes(blocks), ""},
                    {4, 0, 3, 0, 4, ""}};
    return one;
  }

  CapturedKernel kernel;
  std::vector<KernelSignature> signatures;
};

TEST_F(JoinSequence, WhatIsPassedAlikeIsOneArgument) {
  const auto joined = join_sequence(kernel, signatures);
  ASSERT_TRUE(joined.ok()) << joined.error().message;
  EXPECT_EQ(joined->arguments, (std::vector<std::vector<std::string>>{
                                   {"x", "partial", "n"}, {"partial", "out", "count"}}));
  ASSERT_EQ(joined->signature.parameters.size(), 5U);
  EXPECT_FALSE(joined->signature.parameters[1].points_to_const);  // one of them writes it
  ASSERT_EQ(joined->kernel.slots.size(), 5U);
  EXPECT_EQ(joined->kernel.slots[3].offset, 32U);
  ASSERT_EQ(joined->kernel.kept[0].pointers.size(), 3U);
  EXPECT_EQ(joined->kernel.kept[0].pointers[2].parameter, 3U);
}

TEST_F(JoinSequence, WhatDiffersInSomeLaunchIsTwo) {
  kernel.kept[1].pointers[2].allocation = 7;
  const auto joined = join_sequence(kernel, signatures);
  ASSERT_TRUE(joined.ok()) << joined.error().message;
  EXPECT_EQ(joined->arguments[1][0], "data");
}

TEST_F(JoinSequence, NamesThatAreTakenAreMadeLonger) {
  for (Parameter& parameter : signatures[1].parameters) {
    if (parameter.name == "out") parameter.name = "x";
    if (parameter.name == "count") parameter.name = "n";
  }
  const auto joined = join_sequence(kernel, signatures);
  ASSERT_TRUE(joined.ok()) << joined.error().message;
  EXPECT_EQ(joined->arguments[1],
            (std::vector<std::string>{"partial", "final_sum_x", "final_sum_n"}));
}

TEST_F(JoinSequence, OneLaunchShowsNothingOfNumbers) {
  kernel.kept.pop_back();
  const std::int32_t n = 100'000;
  std::memcpy(kernel.kept[0].parameters.data() + 40, &n, sizeof n);
  const auto joined = join_sequence(kernel, signatures);
  ASSERT_TRUE(joined.ok());
  EXPECT_EQ(joined->arguments[1][2], "count");
  signatures[1].parameters[2].name = "n";
  EXPECT_EQ(join_sequence(kernel, signatures)->arguments[1][2], "n");
}

TEST_F(JoinSequence, RefusesOtherSignaturesAndStructures) {
  auto others = signatures;
  others[1].parameters.pop_back();
  EXPECT_EQ(join_sequence(kernel, others).error().code, ErrorCode::invalid_argument);
  others = signatures;
  others.pop_back();
  EXPECT_EQ(join_sequence(kernel, others).error().code, ErrorCode::invalid_argument);
  others = signatures;
  others[0].parameters[2].record_bytes = 4;
  EXPECT_EQ(join_sequence(kernel, others).error().code, ErrorCode::unsupported);
  others = signatures;
  others[1].name = "block_sums";
  EXPECT_EQ(join_sequence(kernel, others).error().code, ErrorCode::unsupported);
}

TEST_F(JoinSequence, TheManifestHasLaunches) {
  const auto derived = derive_manifest_of_stages(kernel, signatures, "/nowhere");
  ASSERT_TRUE(derived.ok()) << derived.error().message;
  const Manifest& manifest = derived->manifest;
  EXPECT_EQ(manifest.sizes, (Symbols{{"n", 100'000}}));
  ASSERT_EQ(manifest.launches.size(), 2U);
  EXPECT_EQ(manifest.launches[0].launch.grid[0].text(), "cdiv(n, bx)");
  EXPECT_EQ(manifest.launches[1].launch.kernel, "final_sum");
  // What the first launch left is told in terms of sizes.
  EXPECT_EQ(manifest.launches[1].launch.arguments,
            (std::vector<std::string>{"partial", "out", "cdiv(n, 256)"}));
  const auto problem = make_problem_of_launches(manifest, signatures, "k.cu", "");
  ASSERT_TRUE(problem.ok()) << problem.error().message;
  EXPECT_EQ(problem->launch.launches.size(), 2U);
  for (const Argument& argument : problem->arguments) {
    if (argument.name != "partial") continue;
    EXPECT_EQ(argument.shape[0].text(), "cdiv(n, 256)");
  }
}

}  // namespace
}  // namespace regraph::capture::join_sequence_test
