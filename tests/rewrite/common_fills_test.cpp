// untile where threads fill shared arrays by their number in the block taken apart.
#include "rewrite/step_checks.h"

namespace regraph::test::common_fills_test {
namespace {

const Application kUntile = {"untile", {}};

constexpr const char* kSizes =
    "tests: [{M: 37, N: 41, K: 29}, {M: 32, N: 64, K: 32}, {M: 1, N: 1, K: 1}]\n";

// Blocks of 64 threads with 4 x 4 elements of 32 x 32 each; `fill` in the loop over strips.
Result<std::unique_ptr<KernelCase>> product(const std::string& fill,
                                            const std::string& more = kSizes) {
  return KernelCase::make(
      "#include <cuda_fp16.h>\n"
      "__global__ void f(const __half* A, const __half* B, float* C, int M, int N, int K) {\n"
      "  __shared__ __half a[32 * 16];\n  __shared__ __half b[16][32];\n"
      "  const int tid = threadIdx.y * blockDim.x + threadIdx.x;\n"
      "  const int top = blockIdx.y * 32, left = blockIdx.x * 32;\n"
      "  const int tr = tid / 8, tc = tid % 8;\n"
      "  float acc[16] = {0.0f};\n  for (int t = 0; t < K; t += 16) {\n" +
          fill +
          "    __syncthreads();\n    for (int k = 0; k < 16; ++k)\n"
          "      for (int i = 0; i < 4; ++i)\n        for (int j = 0; j < 4; ++j)\n"
          "          acc[i * 4 + j] += __half2float(a[(tr * 4 + i) * 16 + k]) * "
          "__half2float(b[k][tc * 4 + j]);\n"
          "    __syncthreads();\n  }\n"
          "  for (int i = 0; i < 4; ++i)\n    for (int j = 0; j < 4; ++j)\n"
          "      if (top + tr * 4 + i < M && left + tc * 4 + j < N)\n"
          "        C[(top + tr * 4 + i) * N + left + tc * 4 + j] = acc[i * 4 + j];\n}",
      "sizes: {M: 64, N: 64, K: 64}\n"
      "args: {A: {dir: in, shape: [M, K]}, B: {dir: in, shape: [K, N]}, C: {dir: inout, shape: "
      "[M, N]}}\nlaunch: {block: 64, grid: ['cdiv(N, 32)', 'cdiv(M, 32)']}\n" +
          more + "assume: {noalias: true, reassociate: true}\n");
}

const std::string kFillA =
    "    for (int o = 0; o < 32; o += 4) {\n      const int r = tid / 16 + o, c = tid % 16;\n"
    "      a[r * 16 + c] = top + r < M && t + c < K ? A[(top + r) * K + t + c] : "
    "__float2half(0.0f);\n    }\n";
const std::string kFillB =
    "    for (int o = 0; o < 16; o += 2) {\n      const int r = tid / 32 + o, c = tid % 32;\n"
    "      b[r][c] = t + r < K && left + c < N ? B[(t + r) * N + left + c] : "
    "__float2half(0.0f);\n    }\n";

void expect_plain(const KernelCase& kernel) {
  const std::string code = source::print(expect_correct(kernel, {kUntile}).unit);
  expect_text(code, "acc += __half2float(A[k + K * row]) * __half2float(B[column + N * k]);");
  expect_text(code, "< K; ++k");
  expect_no_text(code, "__shared__");
}

TEST(CommonFills, AreByQuotientsAndRemainders) {
  const auto kernel = product(kFillA + kFillB);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_plain(**kernel);
}

TEST(CommonFills, AreByShiftsAndMasks) {
  const auto kernel = product(
      "    for (int o = 0; o < 32; o += 4) {\n      const int r = (tid >> 4) + o, c = tid & 15;\n"
      "      a[r * 16 + c] = top + r < M && t + c < K ? A[(top + r) * K + t + c] : "
      "__float2half(0.0f);\n    }\n" +
      kFillB);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_plain(**kernel);
}

// for (i = tid; i < elements; i += threads)
TEST(CommonFills, AreByElementsInTurn) {
  const std::string fill =
      "    for (int i = tid; i < 32 * 16; i += 64) {\n      const int r = i / 16, c = i % 16;\n"
      "      a[i] = top + r < M && t + c < K ? A[(top + r) * K + t + c] : __float2half(0.0f);\n"
      "    }\n    for (int i = tid; i < 16 * 32; i += blockDim.x * blockDim.y) {\n"
      "      b[i / 32][i % 32] = t + i / 32 < K && left + i % 32 < N ? B[(t + i / 32) * N + left + "
      "i % 32] : __float2half(0.0f);\n    }\n";
  const auto kernel = product(fill);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_plain(**kernel);
}

void expect_refused(const std::string& fill, const std::string& sizes = kSizes) {
  SCOPED_TRACE(fill);
  const auto kernel = product(fill, sizes);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const auto state = (*kernel)->apply((*kernel)->original(), "untile", {});
  if (!state) return;
  ADD_FAILURE() << source::print(state->unit);
}

// In blocks of two axes, whose threads have a row and a column each.
TEST(CommonFills, AreOfBlocksWithTwoAxes) {
  const auto kernel = KernelCase::make(
      "__global__ void f(const float* A, const float* B, float* C, int M, int N, int K) {\n"
      "  __shared__ float a[8][32];\n  __shared__ float b[32][16];\n"
      "  const int tid = threadIdx.y * blockDim.x + threadIdx.x;\n"
      "  const int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;\n"
      "  float sum = 0.0f;\n  for (int t = 0; t < K; t += 32) {\n"
      "    for (int e = 0; e < 2; ++e) {\n      const int at = tid + e * 128;\n"
      "      const int r = at / 32, c = at % 32;\n"
      "      a[r][c] = blockIdx.y * 8 + r < M && t + c < K ? A[(blockIdx.y * 8 + r) * K + t + c] : "
      "0.0f;\n    }\n    for (int i = tid; i < 512; i += 128) {\n"
      "      const int r = i >> 4, c = i & 15;\n"
      "      b[r][c] = t + r < K && blockIdx.x * 16 + c < N ? B[(t + r) * N + blockIdx.x * 16 + c] "
      ": 0.0f;\n    }\n    __syncthreads();\n"
      "    for (int k = 0; k < 32; ++k) sum += a[threadIdx.y][k] * b[k][threadIdx.x];\n"
      "    __syncthreads();\n  }\n  if (row < M && col < N) C[row * N + col] = sum;\n}",
      "sizes: {M: 64, N: 64, K: 64}\n"
      "args: {A: {dir: in, shape: [M, K]}, B: {dir: in, shape: [K, N]}, C: {dir: inout, shape: "
      "[M, N]}}\nlaunch: {block: [16, 8], grid: ['cdiv(N, 16)', 'cdiv(M, 8)']}\n" +
          std::string(kSizes));
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const std::string code = source::print(expect_correct(**kernel, {kUntile}).unit);
  expect_text(code, "< K; ++k");
  expect_no_text(code, "__shared__");
}

TEST(CommonFills, StayWhereTheyAreNoCopy) {
  const auto replaced = [](std::string text, const std::string& from, const std::string& to) {
    return text.replace(text.find(from), from.size(), to);
  };
  // Half of the elements only: the others hold what an earlier strip left, or nothing.
  expect_refused(replaced(kFillA, "o < 32", "o < 16") + kFillB, "tests: [{M: 16, N: 16, K: 16}]\n");
  // By a value that the thread keeps.
  expect_refused(replaced(kFillA, ": __float2half(0.0f)", ": __float2half(acc[0])") + kFillB,
                 "tests: [{M: 32, N: 32, K: 16}]\n");
}

}  // namespace
}  // namespace regraph::test::common_fills_test
