// Loops that count in 64 bits what fits 32.
#include "rewrite/step_checks.h"

namespace regraph::test::narrow_counters_test {
namespace {

Result<std::unique_ptr<KernelCase>> case_of(const std::string& loop) {
  return KernelCase::make(
      "__global__ void f(const float* a, float* b, int n, long long far) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) {\n    float sum = 0.0f;\n   "
      " " +
          loop + "\n    b[i] = sum;\n  }\n}",
      "sizes: {n: 60}\nargs:\n  a: {dir: in, shape: [n, 64]}\n  b: {dir: out, shape: [n]}\n"
      "  far: 40\nlaunch: {block: 32, grid: 'cdiv(n, bx)'}\n"
      "tests: [{n: 60}, {n: 37}, {n: 1}]\nassume: {noalias: true, reassociate: true}\n");
}

const Application kSplit = {"multi_accumulator", {{"accumulators", "4"}, {"loop", "1"}}};

TEST(NarrowCounters, AreIntsWhereLimitsFit) {
  for (const char* loop :
       {"for (size_t k = 0; k < 64; ++k) sum += a[i * 64 + k];",
        "for (long long k = 1LL; k < 61LL; k += 2LL) sum += a[i * 64LL + k] * k;",
        "const size_t m = n; for (size_t k = 0; k < m; ++k) sum += a[k];",
        "for (unsigned long long k = 0; k < static_cast<size_t>(n); ++k) sum += a[k] * (k >> "
        "1);"}) {
    SCOPED_TRACE(loop);
    const auto kernel = case_of(loop);
    ASSERT_TRUE(kernel.ok()) << kernel.error().message;
    const auto split = expect_correct(**kernel, {kSplit});
    EXPECT_NE(source::print(split.unit).find("for (int k"), std::string::npos);
  }
}

TEST(NarrowCounters, OthersStay) {
  const auto far = case_of("for (long long k = 0; k < far; ++k) sum += a[k];");
  ASSERT_TRUE(far.ok()) << far.error().message;
  const auto split = expect_correct(**far, {kSplit});
  EXPECT_NE(source::print(split.unit).find("for (long long k"), std::string::npos);
  const auto unsigned_first = case_of("for (size_t k = i; k < 64; ++k) sum += a[k];");
  ASSERT_TRUE(unsigned_first.ok()) << unsigned_first.error().message;
  expect_refusal(**unsigned_first, kSplit, "it counts without sign and does not begin at 0");
}

}  // namespace
}  // namespace regraph::test::narrow_counters_test
