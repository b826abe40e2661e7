// Plans of several launches: run in order in the same memory, judged by what the last one leaves.
#include "eval/compile/compiled_plan.h"
#include "eval/real_compiler.h"
#include "eval/verify/verifier.h"
#include "kernel/manifest.h"

#include <gtest/gtest.h>

namespace regraph::launches_test {
namespace {

const Cancellation kNever;
constexpr std::uint64_t kSeed = 7;

// Sums of blocks, then their sum.
constexpr const char* kFirst = R"cuda(
__global__ void block_sums(const float* x, float* partial, int n) {
  __shared__ float sums[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  sums[threadIdx.x] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s /= 2) {
    if (threadIdx.x < s) sums[threadIdx.x] += sums[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) partial[blockIdx.x] = sums[0];
}
)cuda";
constexpr const char* kSecond = R"cuda(
__global__ void final_sum(const float* values, float* y, long long count) {
  float sum = 0.0f;
  for (long long i = 0; i < count; ++i) sum += values[i];
  y[0] = sum;
}
)cuda";
constexpr const char* kManifest = R"yaml(
sizes: {n: 1000}
args: {x: {shape: [n]}, y: {dir: out, shape: [1]}}
scratch: {partial: {type: float, shape: ["cdiv(n, 64)"]}}
launches:
  - {kernel: block_sums, block: 64, grid: ["cdiv(n, 64)"]}
  - {kernel: final_sum, block: 1, grid: 1, args: [partial, y, "cdiv(n, 64)"]}
tests: [{n: 1000}, {n: 64}, {n: 1}]
)yaml";

Parameter pointer(std::string name, bool to_const) {
  return {std::move(name), ScalarType::f32, true, to_const, 1};
}
Parameter scalar(std::string name, ScalarType type) {
  return {std::move(name), type, false, false, 1};
}

Problem reduction() {
  const auto manifest = parse_manifest(kManifest, "k.yaml");
  EXPECT_TRUE(manifest.ok()) << manifest.error().message;
  auto problem = make_problem_of_launches(
      *manifest,
      {{"block_sums",
        {pointer("x", true), pointer("partial", false), scalar("n", ScalarType::i32)}},
       {"final_sum",
        {pointer("values", true), pointer("y", false), scalar("count", ScalarType::i64)}}},
      "k.cu", "");
  EXPECT_TRUE(problem.ok()) << problem.error().message;
  return *problem;
}

CompiledPlan compiled(const std::string& source, const LaunchPlan& plan) {
  static Compiler compiler(test::real_configuration());
  auto result = compile_plan(compiler, source, plan, "sm_90", kNever);
  EXPECT_TRUE(result.ok()) << result.error().message << "\n" << source;
  return result.ok() ? *result : CompiledPlan{};
}

class Launches : public ::testing::Test {
 protected:
  VerificationResult verify(const std::string& source, const LaunchPlan& plan) {
    return verifier_.verify(compiled(source, plan), plan, kSeed, kNever);
  }
  void expect(Verdict verdict, const std::string& source, const LaunchPlan& plan,
              const std::string& word) {
    const VerificationResult result = verify(source, plan);
    EXPECT_STREQ(name(result.verdict), name(verdict)) << result.message;
    EXPECT_NE(result.message.find(word), std::string::npos) << result.message;
  }

  const Problem problem_ = reduction();
  const LaunchPlan& plan_ = problem_.launch;
  Verifier verifier_{problem_, compiled(std::string(kFirst) + kSecond, problem_.launch)};
};

TEST_F(Launches, TheOriginalIsSoundAndAgreesWithItself) {
  const auto warnings = verifier_.check_original(kSeed, kNever);
  ASSERT_TRUE(warnings.ok()) << warnings.error().message;
  const VerificationResult result = verify(std::string(kFirst) + kSecond, plan_);
  EXPECT_TRUE(result.correct()) << result.message;
  EXPECT_GT(result.thread_instructions, 0U);
}

TEST_F(Launches, AnotherNumberOfLaunchesMayComputeTheSame) {
  const std::string one = std::string(kFirst) + R"cuda(
__global__ void sum(const float* x, float* y, int n) {
  float total = 0.0f;
  for (int first = 0; first < n; first += 64) {
    float sums[64];
    for (int i = 0; i < 64; ++i) sums[i] = first + i < n ? x[first + i] : 0.0f;
    for (int s = 32; s > 0; s /= 2)
      for (int i = 0; i < s; ++i) sums[i] += sums[i + s];
    total += sums[0];
  }
  y[0] = total;
}
)cuda";
  LaunchPlan plan;
  plan.launches = {{"sum", {1, 1, 1}, {1, 1, 1}, 0, {"x", "y", "n"}}};
  const VerificationResult result = verify(one, plan);
  EXPECT_TRUE(result.correct()) << result.message;
}

TEST_F(Launches, AWrongSecondKernelIsFound) {
  expect(Verdict::wrong_result, std::string(kFirst) + R"cuda(
__global__ void final_sum(const float* values, float* y, long long count) {
  float sum = 0.0f;
  for (long long i = 1; i < count; ++i) sum += values[i];
  y[0] = sum;
}
)cuda",
         plan_, "'y'");
}

TEST_F(Launches, AWrongFirstKernelIsFoundByWhatTheSecondLeaves) {
  std::string wrong = kFirst;
  wrong.replace(wrong.find("partial[blockIdx.x] = sums[0]"), 29, "partial[0] = sums[0]");
  const VerificationResult result = verify(wrong + kSecond, plan_);
  EXPECT_FALSE(result.correct());
}

TEST_F(Launches, AMissingLaunchLeavesPoison) {
  LaunchPlan first_only = plan_;
  first_only.launches.pop_back();
  expect(Verdict::wrong_result, std::string(kFirst) + kSecond, first_only, "'y'");
  LaunchPlan second_only = plan_;
  second_only.launches.erase(second_only.launches.begin());
  expect(Verdict::wrong_result, std::string(kFirst) + kSecond, second_only, "'y'");
  LaunchPlan swapped = plan_;
  std::swap(swapped.launches[0], swapped.launches[1]);
  expect(Verdict::wrong_result, std::string(kFirst) + kSecond, swapped, "'y'");
}

TEST_F(Launches, AFaultNamesItsKernel) {
  expect(Verdict::out_of_bounds, std::string(kFirst) + R"cuda(
__global__ void final_sum(const float* values, float* y, long long count) {
  float sum = 0.0f;
  for (long long i = 0; i <= count; ++i) sum += values[i];
  y[0] = sum;
}
)cuda",
         plan_, "in kernel 'final_sum'");
}

TEST_F(Launches, ARaceInTheSecondKernelIsFound) {
  LaunchPlan plan = plan_;
  plan.launches[1].block = {64, 1, 1};
  expect(Verdict::data_race, std::string(kFirst) + R"cuda(
__global__ void final_sum(const float* values, float* y, long long count) {
  __shared__ float sums[64];
  float sum = 0.0f;
  for (long long i = threadIdx.x; i < count; i += 64) sum += values[i];
  sums[threadIdx.x] = sum;
  if (threadIdx.x == 0) {
    float total = 0.0f;
    for (int i = 0; i < 64; ++i) total += sums[i];
    y[0] = total;
  }
}
)cuda",
         plan, "final_sum");
}

TEST_F(Launches, AnEndlessSecondKernelRunsOutOfTheBudgetOfAll) {
  const VerificationResult result = verify(std::string(kFirst) + R"cuda(
__global__ void final_sum(const float* values, float* y, long long count) {
  volatile float* out = y;
  while (out[0] != 12345.0f) out[0] = values[0];
}
)cuda",
                                           plan_);
  EXPECT_EQ(result.verdict, Verdict::timeout) << result.message;
}

TEST_F(Launches, WhatIsPassedMustFitTheKernel) {
  LaunchPlan fewer = plan_;
  fewer.launches[1].arguments.pop_back();
  expect(Verdict::launch_error, std::string(kFirst) + kSecond, fewer, "3 parameters");
  LaunchPlan unknown = plan_;
  unknown.launches[1].arguments[2] = "cdiv(m, 64)";
  expect(Verdict::launch_error, std::string(kFirst) + kSecond, unknown, "m");
  EXPECT_EQ(verify(std::string(kFirst) + kSecond, plan_).verdict, Verdict::correct);
}

TEST(LaunchesOfAnOriginal, ScratchThatNobodyWroteIsNoInput) {
  const Problem problem = reduction();
  std::string hole = kFirst;
  hole.replace(hole.find("if (threadIdx.x == 0) partial"), 29,
               "if (threadIdx.x == 0 && blockIdx.x != 3) partial");
  Verifier verifier(problem, compiled(hole + kSecond, problem.launch));
  const auto warnings = verifier.check_original(kSeed, kNever);
  ASSERT_FALSE(warnings.ok());
  EXPECT_NE(warnings.error().message.find("depends on what the buffer held"), std::string::npos)
      << warnings.error().message;
}

TEST(LaunchesOfAnOriginal, VariablesOfTheModuleLastFromLaunchToLaunch) {
  const Problem problem = reduction();
  const std::string through = R"cuda(
__device__ float total;
__global__ void block_sums(const float* x, float* partial, int n) {
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    float sum = 0.0f;
    for (int i = 0; i < n; ++i) sum += x[i];
    total = sum;
  }
  if (threadIdx.x == 0) partial[blockIdx.x] = 0.0f;
}
__global__ void final_sum(const float* values, float* y, long long count) { y[0] = total; }
)cuda";
  Verifier verifier(problem, compiled(through, problem.launch));
  const auto warnings = verifier.check_original(kSeed, kNever);
  ASSERT_TRUE(warnings.ok()) << warnings.error().message;
  const VerificationResult result =
      verifier.verify(compiled(through, problem.launch), problem.launch, kSeed, kNever);
  EXPECT_TRUE(result.correct()) << result.message;
}

}  // namespace
}  // namespace regraph::launches_test
