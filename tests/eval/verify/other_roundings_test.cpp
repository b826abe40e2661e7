#include "eval/verify/other_roundings.h"

#include "eval/verify/element.h"
#include "eval/verify/float_work.h"
#include "eval/verify/verifier_test_support.h"

#include <cmath>

namespace regraph::verify::other_roundings_test {
namespace {

using test::Bench;
using test::pointer;
using test::scalar;

std::vector<std::byte> halves(const std::vector<double>& values) {
  std::vector<std::byte> bytes(2 * values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    store_element(ScalarType::f16, values[i], bytes.data() + 2 * i);
  return bytes;
}

OtherRoundings compared(const std::vector<double>& expected, const std::vector<double>& actual) {
  Argument argument;
  argument.type = ScalarType::f16;
  const std::vector<std::byte> one = halves(expected);
  const std::vector<std::byte> other = halves(actual);
  return other_roundings({argument, {}, one, other, {}, {}}, 1e-6);
}

TEST(OtherRoundings, CountsValuesNotElements) {
  const double next = 1.0 + 0x1p-10;
  EXPECT_DOUBLE_EQ(compared({1.0, 2.0, 3.0}, {1.0, 2.0, 3.0}).otherwise, 0.0);
  const OtherRoundings one_row = compared({1.0, 1.0, 1.0, 2.0}, {next, next, next, 2.0});
  EXPECT_EQ(one_row.values, 2U);
  EXPECT_DOUBLE_EQ(one_row.otherwise, 1.0);
  EXPECT_DOUBLE_EQ(compared({1.0, 1.0, 1.0, 1.0}, {next, 1.0, 1.0, 1.0}).otherwise, 0.25);
}

TEST(OtherRoundings, LeavesErrorsOfSinglePrecisionNearZero) {
  // Half of it is a denormal number there, but no more than fp32 is off beside 1.
  EXPECT_DOUBLE_EQ(compared({1.0, 0x1p-23}, {1.0, 0x1p-24}).otherwise, 0.0);
  EXPECT_DOUBLE_EQ(compared({1.0, 0x1p-12}, {1.0, 0x1p-13}).otherwise, 1.0);
  EXPECT_DOUBLE_EQ(compared({1.0, 2.0}, {1.0, std::nan("")}).otherwise, 1.0);
}

TEST(OtherRoundings, SumsAreCutOffInText) {
  EXPECT_EQ(rounded_toward_zero("\tfma.rn.f32 \t%f1, %f2;\n\tadd.f32 %f1;\n\tmul.ftz.f32 %f1;"),
            "\tfma.rz.f32 \t%f1, %f2;\n\tadd.rz.f32 %f1;\n\tmul.rz.ftz.f32 %f1;");
  for (const char* same : {"\tadd.f64 %fd1;", "\tadd.s32 %r1;", "\tdiv.rn.f32 %f1;", "add.rn.f16"})
    EXPECT_EQ(rounded_toward_zero(same), same);
}

// Row sums in half precision.
std::string sums(const std::string& body, const std::string& result) {
  return "#include <cuda_fp16.h>\n"
         "__global__ void k(const __half* x, __half* y, int R, int C) {\n"
         "  int row = blockIdx.x * blockDim.x + threadIdx.x;\n  if (row >= R) return;\n"
         "  const __half* from = x + row * C;\n  " +
         body + "\n  y[row] = " + result + ";\n}";
}

Bench bench_of(const std::string& original, const std::string& init = "normal") {
  return Bench("sizes: {R: 4096, C: 4096}\nargs: {x: {shape: [R, C], init: \"" + init +
                   "\"}, y: {dir: out, shape: [R]}}\nlaunch: {block: 32, grid: \"cdiv(R, bx)\"}\n"
                   "tests: [{R: 65, C: 45}, {R: 64, C: 64}]\n",
               {pointer("x", true, ScalarType::f16), pointer("y", false, ScalarType::f16),
                scalar("R"), scalar("C")},
               original);
}

constexpr const char* kInFloat =
    "float sum = 0.0f; for (int i = 0; i < C; ++i) sum += __half2float(from[i]);";
constexpr const char* kBackwards =
    "float sum = 0.0f; for (int i = C; i-- > 0;) sum += __half2float(from[i]);";
constexpr const char* kPairs =
    "float sum = 0.0f; for (int i = 0; i < C; i += 2) sum += __half2float(i + 1 < C ? "
    "__hadd(from[i], from[i + 1]) : from[i]);";

TEST(OtherRoundings, SumsStayInTheTypeOfTheAccumulator) {
  Bench bench = bench_of(sums(kInFloat, "__float2half(sum)"));
  bench.expect(Verdict::correct, sums(kBackwards, "__float2half(sum)"), "");
  bench.expect(Verdict::wrong_result, sums(kPairs, "__float2half(sum)"), "less precise");
  bench.expect(Verdict::wrong_result, sums(kInFloat, "__float2half_rz(sum)"), "less precise");
}

TEST(OtherRoundings, IntermediateRoundingInTheOriginalAllowsOthers) {
  Bench bench = bench_of(sums(kPairs, "__float2half(sum)"));
  bench.expect(Verdict::correct, sums(kInFloat, "__float2half(sum)"), "");
}

TEST(OtherRoundings, OneSumInHalfRoundsOnce) {
  const std::string first = "__half sum = __hadd(from[0], from[C - 1]);";
  Bench bench = bench_of(sums(first, "sum"));
  bench.expect(
      Verdict::correct,
      sums("float sum = __half2float(from[0]) + __half2float(from[C - 1]);", "__float2half(sum)"),
      "");
  bench.expect(Verdict::wrong_result,
               sums("float sum = __half2float(from[0]) + __half2float(from[C - 1]);",
                    "__float2half_rz(sum)"),
               "less precise");
}

TEST(OtherRoundings, CancellationIsNoImprecision) {
  // Beside the large number fp32 is as coarse as the halves that are left.
  const std::string with_offset =
      "float sum = 1.0e4f; for (int i = 0; i < C; ++i) sum += __half2float(from[i]);";
  const std::string offset_last =
      "float sum = 0.0f; for (int i = 0; i < C; ++i) sum += __half2float(from[i]); sum += 1.0e4f;";
  Bench bench = bench_of(sums(with_offset, "__float2half(sum - 1.0e4f)"));
  bench.expect(Verdict::correct, sums(offset_last, "__float2half(sum - 1.0e4f)"), "");
}

TEST(OtherRoundings, ConversionsAreExact) {
  const auto converts = [](const std::string& value) {
    return "#include <cuda_fp16.h>\n__global__ void k(const float* x, __half* y, int n) {\n"
           "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) y[i] = " +
           value + ";\n}";
  };
  Bench bench(
      "sizes: {n: 1000}\nargs: {x: {shape: [n]}, y: {dir: out, shape: [n]}}\nlaunch: "
      "{block: 128, grid: \"cdiv(n, bx)\"}\ntests: [{n: 256}]\n",
      {pointer("x", true), pointer("y", false, ScalarType::f16), scalar("n")},
      converts("__float2half(x[i])"));
  bench.expect(Verdict::correct, converts("__double2half(x[i])"), "");
  bench.expect(Verdict::wrong_result,
               converts("i % 64 == 9 ? __float2half_rz(x[i]) : "
                        "__float2half(x[i])"),
               "allow no rounding");
}

}  // namespace
}  // namespace regraph::verify::other_roundings_test
