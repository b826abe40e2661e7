#include "eval/verify/float_work.h"

#include "eval/verify/verifier_test_support.h"

#include <cstring>
#include <limits>

namespace regraph::verify::float_work_test {
namespace {

using test::compiled;
using test::pointer;
using test::problem_of;
using test::scalar;

Problem problem() {
  return problem_of(
      "sizes: {n: 1000}\nargs: {x: {shape: [n]}, y: {dir: out, shape: [n]}}\nlaunch: "
      "{block: 128, grid: \"cdiv(n, bx)\"}\ntests: [{n: 64}]\n",
      {pointer("x", true), pointer("y", false), scalar("n")});
}

FloatWork work_of(const std::string& value) {
  const Problem one = problem();
  const auto kernel = compiled(
      "#include <cuda_fp16.h>\n__global__ void k(const float* x, float* y, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) y[i] = " +
      value + ";\n}");
  const auto plan = load_plan(CompiledPlan::of(kernel, one.launch), one.launch);
  EXPECT_TRUE(plan.ok());
  Buffers inputs(3);
  inputs[0].resize(256);
  const auto run = run_kernel(one, *plan, one.tests[0], inputs, {}, Cancellation());
  EXPECT_TRUE(run.ok());
  return float_work(*plan, run->profile);
}

TEST(FloatWork, TellsAdditionsFromDoubling) {
  EXPECT_FALSE(work_of("2.0f * x[i]").adds);  // x + x
  EXPECT_FALSE(work_of("3.0f * x[i]").adds);
  EXPECT_TRUE(work_of("3.0f * x[i]").multiplies);
  EXPECT_TRUE(work_of("x[i] + 1.0f").adds);
  EXPECT_TRUE(work_of("x[i] * x[i] - x[(i + 1) % n]").adds);
}

TEST(FloatWork, TellsChoicesAmongValuesFromThoseWithAConstant) {
  const FloatWork clipped = work_of("x[i] < 0 ? 0 : x[i]");
  EXPECT_TRUE(clipped.chooses);
  EXPECT_FALSE(clipped.chooses_between);
  EXPECT_TRUE(work_of("fmaxf(x[i], x[n - 1 - i])").chooses_between);
  EXPECT_FALSE(work_of("-x[i]").chooses);
}

TEST(FloatWork, SeesDoublePrecisionAndLoads) {
  EXPECT_TRUE(work_of("(float)((double)x[i] * 1.1)").in_double);
  EXPECT_FALSE(work_of("x[i] * 1.1f").in_double);
  EXPECT_EQ(work_of("x[i] * 1.1f").loads, 64U);
  EXPECT_EQ(work_of("x[i] + x[n - 1 - i]").loads, 128U);
}

TEST(FloatWork, CountsRoundingsToHalfPrecision) {
  EXPECT_EQ(work_of("2.5f * x[i]").roundings, 0U);
  EXPECT_EQ(work_of("__half2float(__float2half(x[i]))").roundings, 64U);
  EXPECT_EQ(work_of("__low2float(__floats2half2_rn(x[i], x[n - 1 - i]))").roundings, 128U);
  const std::string half = "__float2half(x[i])";
  EXPECT_EQ(work_of("__half2float(__hmul(" + half + ", " + half + "))").roundings, 192U);
  // Choices, signs and conversions from half precision round nothing.
  EXPECT_EQ(work_of("__half2float(__hneg(__hmax(" + half + ", " + half + ")))").roundings, 128U);
}

TEST(FloatWork, CountsAdditions) {
  EXPECT_EQ(work_of("x[i] + x[n - 1 - i]").additions, 64U);
  EXPECT_FALSE(work_of("x[i] + x[n - 1 - i]").adds_constants);
  EXPECT_TRUE(work_of("x[i] + 1.0f").adds_constants);
}

TEST(FloatWork, SeesAtomicSumsOfHalves) {
  const auto sums = [](const std::string& update) {
    return work_of("0.0f; if (i < n) " + update).sums_halves_in_any_order;
  };
  EXPECT_TRUE(sums("atomicAdd((__half*)y + i, __half(1.0f))"));
  EXPECT_TRUE(sums("atomicAdd((__half2*)y + i, __half2(1.0f, 1.0f))"));
  EXPECT_FALSE(sums("atomicAdd(y + i, 1.0f)"));
  EXPECT_FALSE(sums("y[i] = __half2float(__hadd(__float2half(x[i]), __float2half(2.0f)))"));
}

TEST(FloatWork, FindsResultsNearTheEndOfTheirType) {
  const Problem one = problem();
  const float values[] = {1.0f, 3e30f, std::numeric_limits<float>::infinity()};
  Buffers after(3);
  after[1].resize(sizeof(values));
  std::memcpy(after[1].data(), values, sizeof(values));
  std::vector<std::vector<std::uint8_t>> untouched(3);
  EXPECT_TRUE(is_near_overflow(one, after, untouched));
  EXPECT_EQ(not_finite(one, after), 1U);
  untouched[1] = {0, 1, 1};  // what nobody wrote is no result
  EXPECT_FALSE(is_near_overflow(one, after, untouched));
}

}  // namespace
}  // namespace regraph::verify::float_work_test
