// untile where a thread takes elements of the result in turn: of its block's tile, or of the grid.
#include "rewrite/step_checks.h"

namespace regraph::test::element_rounds_test {
namespace {

const Application kUntile = {"untile", {}};

// Blocks of 16 x 8 threads; `rows` and `columns` are the headers of loops over row and col.
Result<std::unique_ptr<KernelCase>> product(const std::string& rows, const std::string& columns,
                                            const std::string& grid) {
  return KernelCase::make(
      "__global__ void f(const float* A, const float* B, float* C, int M, int N, int K) {\n"
      "  const int top = blockIdx.y * 32, left = blockIdx.x * 32;\n  for (" +
          rows + ") {\n    for (" + columns +
          ") {\n      float sum = 0.0f;\n"
          "      for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];\n"
          "      C[row * N + col] = sum;\n    }\n  }\n}",
      "sizes: {M: 64, N: 64, K: 64}\n"
      "args: {A: {dir: in, shape: [M, K]}, B: {dir: in, shape: [K, N]}, C: {dir: inout, shape: "
      "[M, N]}}\nlaunch: {block: [16, 8], grid: " +
          grid +
          "}\ntests: [{M: 37, N: 41, K: 29}, {M: 64, N: 32, K: 8}, {M: 1, N: 1, K: 1}]\n"
          "assume: {noalias: true, reassociate: true}\n");
}

constexpr const char* kTiles = "['cdiv(N, 32)', 'cdiv(M, 32)']";
constexpr const char* kColumns =
    "int col = left + threadIdx.x; col < min(left + 32, N); col += blockDim.x";

void expect_plain(const KernelCase& kernel) {
  const auto state = expect_correct(kernel, {kUntile});
  const std::string code = source::print(state.unit);
  expect_text(code, "for (int k = 0; k < K; ++k) {");
  for (const char* gone : {"round", "row +=", "col +=", "min("})
    expect_no_text(code, gone);
}

TEST(ElementRounds, OfATileBecomeThreads) {
  for (const char* rows : {"int row = top + threadIdx.y; row < min(top + 32, M); row += blockDim.y",
                           "int row = top + threadIdx.y; row < min(M, top + 32); row += 8"}) {
    SCOPED_TRACE(rows);
    const auto kernel = product(rows, kColumns, kTiles);
    ASSERT_TRUE(kernel.ok()) << kernel.error().message;
    expect_plain(**kernel);
  }
}

TEST(ElementRounds, OfTheGridBecomeThreads) {
  for (const char* grid : {"['cdiv(N, 16)', 'cdiv(M, 8)']", "[2, 'cdiv(M, 8)']"}) {
    SCOPED_TRACE(grid);
    const auto kernel = product(
        "int row = blockIdx.y * blockDim.y + threadIdx.y; row < M; row += gridDim.y * "
        "blockDim.y",
        "int col = blockIdx.x * blockDim.x + threadIdx.x; col < N; col += gridDim.x * "
        "blockDim.x",
        grid);
    ASSERT_TRUE(kernel.ok()) << kernel.error().message;
    expect_plain(**kernel);
  }
}

// Some threads have a round more than others.
TEST(ElementRounds, StayWhereTheirNumberDiffers) {
  const auto kernel =
      product("int row = top + threadIdx.y; row < min(top + 20, M); row += blockDim.y", kColumns,
              "['cdiv(N, 32)', 'cdiv(M, 32)']");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const auto state = (*kernel)->apply((*kernel)->original(), "untile", {});
  if (!state) return;
  EXPECT_EQ((*kernel)->verdict(*state), "correct");
  expect_text(source::print(state->unit), "row +=");
}

// Elements of one round are those of the next one's, too.
TEST(ElementRounds, StayWhereElementsMeet) {
  const auto kernel = KernelCase::make(
      "__global__ void f(const float* A, float* C, int M) {\n"
      "  for (int row = blockIdx.y * 32 + threadIdx.y; row < min((int)blockIdx.y * 32 + 32, M); "
      "row "
      "+= 8) {\n    for (int k = 0; k < 2; ++k) {\n      if (threadIdx.y == 0) C[row / 16 * 0 + k] "
      "= A[row];\n    }\n  }\n}",
      "sizes: {M: 32}\nargs: {A: {dir: in, shape: [M]}, C: {dir: inout, shape: [2]}}\n"
      "launch: {block: [1, 8], grid: [1, 1]}\ntests: [{M: 32}, {M: 9}]\n"
      "assume: {noalias: true}\n");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const auto state = (*kernel)->apply((*kernel)->original(), "untile", {});
  if (!state) return;
  EXPECT_EQ((*kernel)->verdict(*state), "correct") << source::print(state->unit);
}

}  // namespace
}  // namespace regraph::test::element_rounds_test
