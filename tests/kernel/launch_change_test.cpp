#include "kernel/launch_change.h"

#include "kernel/manifest.h"

#include <gtest/gtest.h>

namespace regraph::launch_change_test {
namespace {

Problem product() {
  const auto manifest = parse_manifest(
      "sizes: {M: 4096, N: 4096, K: 4096}\n"
      "args:\n  A: {shape: [M, K]}\n  B: {shape: [K, N]}\n  C: {dir: out, shape: [M, N]}\n"
      "launch: {block: [32, 8], grid: [\"cdiv(M, bx)\", \"cdiv(N, by)\"]}\n"
      "tests: [{M: 70, N: 50, K: 45}, {M: 1, N: 1, K: 1}]\n",
      "sgemm.regraph.yaml");
  EXPECT_TRUE(manifest.ok()) << manifest.error().message;
  const auto size = [](const char* name) {
    return Parameter{.name = name, .type = ScalarType::i32};
  };
  const auto matrix = [](const char* name, bool is_input) {
    return Parameter{
        .name = name, .type = ScalarType::f32, .is_pointer = true, .points_to_const = is_input};
  };
  auto problem = make_problem(
      *manifest,
      {"sgemm",
       {size("M"), size("N"), size("K"), matrix("A", true), matrix("B", true), matrix("C", false)}},
      "sgemm.cu", "");
  EXPECT_TRUE(problem.ok()) << problem.error().message;
  return *problem;
}

std::string message(std::string_view text) {
  const auto change = read_launch_change(text);
  if (change) return "accepted";
  EXPECT_EQ(change.error().code, ErrorCode::parse);
  return change.error().message;
}

TEST(LaunchChange, ReadsJsonAndYamlAlike) {
  const auto json = read_launch_change(
      R"x({"block": [32, 8], "grid": ["cdiv(M, bx)", "cdiv(N, 2 * by)"], "smem": "4 * bx"})x");
  ASSERT_TRUE(json) << json.error().message;
  EXPECT_EQ(json->block, (Dim3{32, 8, 1}));
  EXPECT_EQ(json->grid[1].text(), "cdiv(N, 2 * by)");
  EXPECT_EQ(json->grid[2].text(), "1");
  EXPECT_EQ(json->dynamic_shared_bytes.text(), "4 * bx");
  for (
      const char* same : {
          "block: [32, 8]\ngrid: [\"cdiv(M, bx)\", \"cdiv(N, 2 * by)\"]\nsmem: 4 * bx\n",
          "launch:\n  block: 32x8\n  grid: [\"cdiv(M, bx)\", \"cdiv(N, 2*by)\"]\n  smem: 4*bx\n",
          "launch: {block: [32, 8, 1], grid: [\"cdiv(M, bx)\", \"cdiv(N, 2*by)\", 1], smem: 4*bx}",
          R"x({"launch": {"block": [32, 8], "grid": ["cdiv(M, bx)", "cdiv(N, 2*by)"], "smem": "4*bx"}})x",
      }) {
    const auto other = read_launch_change(same);
    ASSERT_TRUE(other) << same << other.error().message;
    EXPECT_EQ(*other, *json) << same;
  }
}

TEST(LaunchChange, SharedMemoryMayBeLeftOut) {
  const auto change = read_launch_change(R"({"block": 256, "grid": "N"})");
  ASSERT_TRUE(change) << change.error().message;
  EXPECT_EQ(change->dynamic_shared_bytes.text(), "0");
}

TEST(LaunchChange, WhatCannotBeReadIsSaid) {
  EXPECT_NE(message(R"({"block": 2048, "grid": 1})").find("must be 1 to 1024, found 2048"),
            std::string::npos);
  EXPECT_NE(message(R"({"block": [64, 32], "grid": 1})").find("2048 threads is over"),
            std::string::npos);
  EXPECT_NE(
      message(R"x({"block": 32, "grid": "ceil(N / 32)"})x").find("the only functions are cdiv"),
      std::string::npos);
  EXPECT_NE(message(R"({"block": 32, "grid": "(N + 31) >> 5"})").find("cannot read the expression"),
            std::string::npos);
  EXPECT_NE(message(R"({"block": 32})").find("'grid' is missing"), std::string::npos);
  EXPECT_NE(message(R"({"block": 32, "grid": 1, "kernel": "x"})").find("unknown key 'kernel'"),
            std::string::npos);
  EXPECT_NE(
      message("launch: {block: 32, grid: 1}\nsizes: {N: 1}").find("block, grid and smem only"),
      std::string::npos);
  EXPECT_NE(message("  ").find("it is empty"), std::string::npos);
  EXPECT_NE(message("block: 32\ngrid: 1 # " + std::string(5000, 'x')).find("at most 4096"),
            std::string::npos);
  EXPECT_NE(message("grid: " + std::string(1000, '[')).find("more than 16 brackets"),
            std::string::npos);
  EXPECT_NE(message("just words"), "accepted");
  EXPECT_NE(message("block: &a [*a]\ngrid: 1"), "accepted");
}

TEST(LaunchChange, SymbolsAndLimitsAreChecked) {
  const Problem problem = product();
  const auto check = [&](std::string_view text) {
    const Status status = check_launch_change(*read_launch_change(text), problem);
    return status ? std::string("accepted") : status.error().message;
  };
  EXPECT_EQ(check(R"x({"block": [32, 8], "grid": ["cdiv(M, bx)", "cdiv(N, by)"]})x"), "accepted");
  EXPECT_NE(check(R"({"block": 32, "grid": "n"})")
                .find("unknown symbol 'n' (known: K, M, N, bx, by, bz)"),
            std::string::npos);
  EXPECT_NE(check(R"({"block": 32, "grid": 1, "smem": "TILE * 4"})").find("unknown symbol 'TILE'"),
            std::string::npos);
  // 1 / 32 is 0 at the smallest test size.
  EXPECT_NE(check(R"({"block": 32, "grid": "M / 32"})").find("must be 1 to"), std::string::npos);
  EXPECT_NE(check(R"({"block": 32, "grid": [1, "M * N"]})").find("must be 1 to 65535"),
            std::string::npos);
  EXPECT_NE(check(R"({"block": [1, 1, 128], "grid": 1})").find("at most 64 in z"),
            std::string::npos);
  EXPECT_NE(check(R"({"block": 32, "grid": 1, "smem": "0 - N"})").find("bytes"), std::string::npos);
}

TEST(LaunchChange, ChangesOneKernelOnly) {
  LaunchPlan plan = product().launch;
  plan.launches.push_back(plan.launches[0]);
  plan.launches[1].kernel = "other";
  const auto change = read_launch_change(R"({"block": 64, "grid": "N"})");
  const LaunchPlan changed = changed_plan(plan, "sgemm", *change);
  EXPECT_EQ(changed.launches[0].block.x, 64U);
  EXPECT_EQ(changed.launches[1], plan.launches[1]);
}

}  // namespace
}  // namespace regraph::launch_change_test
