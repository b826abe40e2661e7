// Several launches in one manifest: read, joined by name, written back.
#include "kernel/manifest.h"

#include <gtest/gtest.h>

namespace regraph::launches_test {
namespace {

Parameter pointer(std::string name, bool to_const, ScalarType type = ScalarType::f32) {
  return {std::move(name), type, true, to_const, 1};
}
Parameter scalar(std::string name, ScalarType type = ScalarType::i32) {
  return {std::move(name), type, false, false, 1};
}

std::vector<KernelSignature> kernels() {
  return {{"block_sums", {pointer("x", true), pointer("partial", false), scalar("n")}},
          {"final_sum",
           {pointer("values", true), pointer("y", false), scalar("count", ScalarType::i64)}}};
}

constexpr const char* kReduction = R"yaml(
sizes: {n: 65536}
args:
  x: {shape: [n]}
  y: {dir: out, shape: [1]}
scratch: {partial: {type: float, shape: ["cdiv(n, 256)"]}}
launches:
  - {kernel: block_sums, block: 256, grid: ["cdiv(n, 256)"]}
  - {kernel: final_sum, block: 128, grid: 1, smem: 512, args: [partial, y, "cdiv(n, 256)"]}
)yaml";

Result<Problem> join(const std::string& yaml,
                     const std::vector<KernelSignature>& signatures = kernels()) {
  const auto manifest = parse_manifest(yaml, "k.yaml");
  if (!manifest.ok()) return manifest.error();
  return make_problem_of_launches(*manifest, signatures, "k.cu", "source");
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

void expect_error(const std::string& from, const std::string& to, const std::string& message) {
  const auto problem = join(replaced(kReduction, from, to));
  ASSERT_FALSE(problem.ok()) << to;
  EXPECT_NE(problem.error().message.find(message), std::string::npos) << problem.error().message;
  EXPECT_NE(problem.error().message.find("k.yaml"), std::string::npos) << problem.error().message;
}

TEST(Launches, ArgumentsAreJoinedByName) {
  const auto problem = join(kReduction);
  ASSERT_TRUE(problem.ok()) << problem.error().message;
  EXPECT_EQ(problem->signature.name, "block_sums");
  ASSERT_EQ(problem->launch.launches.size(), 2U);
  EXPECT_EQ(problem->launch.launches[0].arguments, (std::vector<std::string>{"x", "partial", "n"}));
  EXPECT_EQ(problem->launch.launches[1].arguments,
            (std::vector<std::string>{"partial", "y", "cdiv(n, 256)"}));
  ASSERT_EQ(problem->arguments.size(), 4U);
  const Argument& partial = problem->arguments[1];
  EXPECT_EQ(partial.name, "partial");
  EXPECT_TRUE(partial.is_scratch);
  EXPECT_FALSE(partial.is_output());
  EXPECT_FALSE(partial.is_input());
  EXPECT_TRUE(problem->arguments[3].is_output());
  EXPECT_EQ(problem->launch.launch_of("final_sum"), &problem->launch.launches[1]);
  EXPECT_EQ(problem->launch.launch_of("other"), nullptr);
}

TEST(Launches, WhatIsPassedIsPartOfThePlansIdentity) {
  const auto problem = join(kReduction);
  ASSERT_TRUE(problem.ok());
  LaunchPlan other = problem->launch;
  other.launches[1].arguments[0] = "x";
  EXPECT_FALSE(other == problem->launch);
  EXPECT_NE(other.text(), problem->launch.text());
}

TEST(Launches, WrittenManifestGivesTheSameProblem) {
  const auto problem = join(kReduction);
  ASSERT_TRUE(problem.ok());
  const std::string text = write_manifest(*problem, problem->launch);
  const auto again = join(text);
  ASSERT_TRUE(again.ok()) << again.error().message << "\n" << text;
  EXPECT_EQ(again->launch, problem->launch);
  EXPECT_EQ(write_manifest(*again, again->launch), text);
  ASSERT_EQ(again->arguments.size(), problem->arguments.size());
  EXPECT_TRUE(again->arguments[1].is_scratch);
  EXPECT_EQ(again->arguments[1].shape, problem->arguments[1].shape);
}

TEST(Launches, ABufferIsConstOnlyWhereAllKernelsTakeItSo) {
  const auto problem = join(replaced(replaced(kReduction,
                                              "scratch: {partial: {type: float, shape: [\"cdiv(n, "
                                              "256)\"]}}\n",
                                              ""),
                                     "  y:", "  partial: {dir: out, shape: [n]}\n  y:"));
  ASSERT_TRUE(problem.ok()) << problem.error().message;
  EXPECT_TRUE(problem->arguments[1].is_output());
}

TEST(Launches, MistakesAreNamedWithTheirLine) {
  expect_error("kernel: final_sum", "kernel: no_such", "k.yaml:9: there is no kernel 'no_such'");
  expect_error("[partial, y, \"cdiv(n, 256)\"]", "[partial, y]", "has 3 parameters");
  expect_error("[partial, y, \"cdiv(n, 256)\"]", "[\"n + 1\", y, n]", "not the name");
  expect_error("[partial, y, \"cdiv(n, 256)\"]", "[partial, y, \"cdiv(m, 256)\"]", "m");
  expect_error("[partial, y, \"cdiv(n, 256)\"]", "[n, y, n]", "float* here and int");
  expect_error("type: float", "type: double", "said to hold double");
  expect_error("partial: {type", "unused: {type", "'unused'");
  expect_error("  x: {shape: [n]}", "  x: {shape: [n]}\n  partial: {shape: [n]}", "scratch");
  expect_error("  x: {shape: [n]}", "  z: {shape: [n]}", "no launch is passed 'z'");
  expect_error("shape: [\"cdiv(n, 256)\"]", "shape: [m]", "m");
  expect_error("launches:", "launch: {block: 1, grid: 1}\nlaunches:", "one of the two");
  expect_error("- {kernel: block_sums, block", "- {block", "'kernel' is missing");
  expect_error("grid: [\"cdiv(n, 256)\"]", "smem: 4", "'grid' is missing");
}

TEST(Launches, ShapeOfTheListIsChecked) {
  for (const char* yaml :
       {"launches: []", "launches: {}", "launches: 3", "launches: [3]", "launches: [[]]",
        "scratch: [1]", "scratch: {a: 1}", "scratch: {a: {type: float}}",
        "launches: [{kernel: k, block: 1, grid: 1, args: 3}]",
        "launches: [{kernel: k, block: 1, grid: 1, args: [[1]]}]",
        "launches: [{kernel: k, block: 1, grid: 1, args: [\"a b\"]}]"}) {
    EXPECT_FALSE(parse_manifest(yaml, "k.yaml").ok()) << yaml;
  }
}

TEST(Launches, TheKernelToOptimiseMustBeLaunched) {
  auto signatures = kernels();
  signatures.insert(signatures.begin(), KernelSignature{"third", {}});
  const auto problem = join(kReduction, signatures);
  ASSERT_FALSE(problem.ok());
  EXPECT_NE(problem.error().message.find("'third' is not among"), std::string::npos);
}

}  // namespace
}  // namespace regraph::launches_test
