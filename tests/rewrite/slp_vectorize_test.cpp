// Neighbours that a thread takes one by one, moved as vectors.
#include "rewrite/step_checks.h"

namespace regraph::test::slp_vectorize_test {
namespace {

const Application kSlp = {"slp_vectorize", {}};

// A row of packed weights of four bits a thread.
constexpr const char* kPackedRows = R"(
#include <cuda_fp16.h>
__global__ void product(const unsigned int* packed, const __half* scales, const __half* x, float* y, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int w = 0; w < columns / 8; ++w) {
    unsigned int word = packed[(long)row * (columns / 8) + w];
    float scale = __half2float(scales[(long)row * (columns / 64) + w / 8]);
    for (int j = 0; j < 8; ++j)
      sum += scale * (float)((int)((word >> (4 * j)) & 15) - 8) * __half2float(x[w * 8 + j]);
  }
  y[row] = sum;
})";

constexpr const char* kPackedRowsManifest = R"(
sizes: {rows: 512, columns: 1024}
args: {packed: {dir: in, shape: [rows, columns / 8], init: 'int(0, 2147483647)'}, scales: {dir: in, shape: [rows, columns / 64]},
       x: {dir: in, shape: [columns]}, y: {dir: out, shape: [rows]}}
launch: {block: 64, grid: ['cdiv(rows, bx)']}
assume: {noalias: true, reassociate: true}
tests: [{rows: 70, columns: 512}, {rows: 3, columns: 64}, {rows: 1, columns: 1600}]
)";

TEST(SlpVectorize, LoadsWhatPackedWordsAreMultipliedWith) {
  auto kernel = KernelCase::make(kPackedRows, kPackedRowsManifest);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const Application lanes = {"cross_thread_reduction",
                             {{"threads_per_row", "32"}, {"rows_per_block", "4"}}};
  const auto state = expect_correct(**kernel, {lanes, kSlp});
  const std::string code = source::print(state.unit);
  EXPECT_NE(code.find("(const uint4*)&x["), std::string::npos) << code;
  EXPECT_EQ(code.find("columns % 8"), std::string::npos) << code;
}

// Rows begin at a multiple of four only where their length is one.
TEST(SlpVectorize, AsksForRowLengths) {
  auto kernel = KernelCase::make(
      "__global__ void sums(const float* a, float* b, int rows, int n) {\n"
      "  int row = blockIdx.x * blockDim.x + threadIdx.x;\n  if (row >= rows) return;\n"
      "  float sum = 0.0f;\n  for (int k = 0; k < n / 4; ++k)\n"
      "    for (int j = 0; j < 4; ++j) sum += a[row * n + 4 * k + j];\n  b[row] = sum;\n}",
      "sizes: {rows: 256, n: 64}\nargs: {a: {dir: in, shape: [rows, n]}, b: {dir: out, shape: "
      "[rows]}}\nlaunch: {block: 64, grid: ['cdiv(rows, bx)']}\n"
      "assume: {noalias: true}\ntests: [{rows: 70, n: 64}, {rows: 5, n: 9}, {rows: 5, n: 14}]\n");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const auto state = expect_correct(**kernel, {kSlp});
  const std::string code = source::print(state.unit);
  EXPECT_NE(code.find("n % 4 == 0"), std::string::npos) << code;
  EXPECT_NE(code.find("float4"), std::string::npos) << code;
}

TEST(SlpVectorize, StoresNeighbours) {
  auto kernel = KernelCase::make(
      "__global__ void twice(const float* a, float* b, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n"
      "  for (int j = 0; j < 4; ++j) b[4 * i + j] = 2.0f * a[4 * i + j];\n}",
      "sizes: {n: 512}\nargs: {a: {dir: in, shape: [4 * n]}, b: {dir: out, shape: [4 * n]}}\n"
      "launch: {block: 64, grid: ['cdiv(n, bx)']}\nassume: {noalias: true}\n"
      "tests: [{n: 100}, {n: 1}]\n");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const auto state = expect_correct(**kernel, {kSlp});
  EXPECT_NE(source::print(state.unit).find("((float4*)&b["), std::string::npos)
      << source::print(state.unit);
}

Result<std::unique_ptr<KernelCase>> lone_element(const std::string& body,
                                                 const std::string& assume) {
  return KernelCase::make(
      "__global__ void copies(const float* a, float* b, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
          body + "\n}",
      "sizes: {n: 512}\nargs: {a: {dir: in, shape: [8 * n]}, b: {dir: out, shape: [n]}}\n"
      "launch: {block: 64, grid: ['cdiv(n, bx)']}\nassume: " +
          assume + "\ntests: [{n: 128}]\n");
}

TEST(SlpVectorize, RefusesWhatItCannotDo) {
  const std::string grants = "{noalias: true, reassociate: true}";
  auto apart = lone_element(
      "  float s = 0.0f;\n  for (int j = 0; j < 4; ++j) s += a[2 * j * n + i];\n  if (i < n) b[i] "
      "= "
      "s;",
      grants);
  ASSERT_TRUE(apart.ok()) << apart.error().message;
  expect_refusal(**apart, kSlp, "no neighbouring elements");
  const std::string pairs = "  if (i < n) b[i] = a[2 * i] + a[2 * i + 1];";
  auto aliased = lone_element(pairs, "{noalias: false}");
  ASSERT_TRUE(aliased.ok()) << aliased.error().message;
  expect_refusal(**aliased, kSlp, "noalias");
  auto waits = lone_element("  __syncthreads();\n" + pairs, grants);
  ASSERT_TRUE(waits.ok()) << waits.error().message;
  expect_refusal(**waits, kSlp, "threads wait for each other");
}

}  // namespace
}  // namespace regraph::test::slp_vectorize_test
