// Races that the manifest allows: nearest_between, and what is judged by it.
#include "eval/verify/nearest_between.h"
#include "eval/verify/verifier_test_support.h"

#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace regraph::benign_races_test {
namespace {

using test::compiled;
using test::kSeed;
using test::pointer;
using test::problem_of;
using test::scalar;

template <typename Value>
std::vector<std::byte> bytes_of(const std::vector<Value>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(Value));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

TEST(NearestBetween, IsTheValueItselfOrTheNearerEnd) {
  const auto nearest =
      verify::nearest_between(ScalarType::f32, bytes_of<float>({1, 5, 1, 1}),
                              bytes_of<float>({3, 2, 3, 1}), bytes_of<float>({2, 1, 9, 1}));
  EXPECT_EQ(nearest, bytes_of<float>({2, 2, 3, 1}));
}

TEST(NearestBetween, LargeIntegersAreNotRounded) {
  const std::int64_t large = std::numeric_limits<std::int64_t>::max();
  const auto nearest =
      verify::nearest_between(ScalarType::i64, bytes_of<std::int64_t>({large - 2}),
                              bytes_of<std::int64_t>({large - 1}), bytes_of<std::int64_t>({large}));
  EXPECT_EQ(nearest, bytes_of<std::int64_t>({large - 1}));
}

TEST(NearestBetween, WithoutOrderTheFirstCounts) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto nearest =
      verify::nearest_between(ScalarType::f32, bytes_of<float>({nan, 1, 4}),
                              bytes_of<float>({2, nan, 5}), bytes_of<float>({2, 2, nan}));
  EXPECT_EQ(nearest, bytes_of<float>({nan, 1, 4}));
}

// Two blocks write each element; whoever comes last wins.
constexpr const char* kLastWins =
    "__global__ void k(const int* x, int* y, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < 2 * n) y[i % n] = x[i % n] + i / n;\n}\n";
constexpr const char* kFirstWins =
    "__global__ void k(const int* x, int* y, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) y[i] = x[i];\n}\n";
constexpr const char* kNobodyWins =
    "__global__ void k(const int* x, int* y, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) y[i] = x[i] + (i == 7 ? 2 : 0);\n}\n";

Problem problem_with(const std::string& check) {
  return problem_of(
      "launch: {block: 32, grid: [\"cdiv(2 * n, bx)\"]}\nsizes: {n: 64}\n"
      "tests: [{n: 64}, {n: 96}]\n"
      "args: {x: {shape: [n]}, y: {dir: out, shape: [n]}}\n" +
          check,
      {pointer("x", true, ScalarType::i32), pointer("y", false, ScalarType::i32), scalar("n")});
}

TEST(BenignRaces, EveryOrderOfTheOriginalIsRight) {
  const Problem problem = problem_with("check: {benign_races: [y]}\n");
  Verifier verifier(problem, compiled(kLastWins));
  const Cancellation never;
  const auto warnings = verifier.check_original(kSeed, never);
  ASSERT_TRUE(warnings.ok()) << warnings.error().message;
  bool told = false;
  for (const std::string& warning : *warnings)
    told = told || warning.find("data races on 'y' are allowed") != std::string::npos;
  EXPECT_TRUE(told);
  for (const char* same : {kLastWins, kFirstWins}) {
    const auto verdict = verifier.verify(compiled(same), problem.launch, kSeed, never);
    EXPECT_TRUE(verdict.correct()) << verdict.message;
  }
  EXPECT_EQ(verifier.verify(compiled(kNobodyWins), problem.launch, kSeed, never).verdict,
            Verdict::wrong_result);
}

TEST(BenignRaces, AreNotAllowedUnasked) {
  const Problem problem = problem_with("");
  Verifier verifier(problem, compiled(kLastWins));
  const Cancellation never;
  const auto warnings = verifier.check_original(kSeed, never);
  ASSERT_FALSE(warnings.ok());
  EXPECT_NE(warnings.error().message.find("benign_races: [x]"), std::string::npos);
}

}  // namespace
}  // namespace regraph::benign_races_test
