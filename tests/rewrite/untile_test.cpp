// untile: tiles that were laid out by hand, and the plain loop that they were made of.
#include "rewrite/step_checks.h"

namespace regraph::test::untile_test {
namespace {

const Application kUntile = {"untile", {}};
const Application kContraction = {"contraction",
                                  {{"block", "16x16"}, {"outputs", "4x4"}, {"depth", "16"}}};

void expect_text(const rewrite::KernelState& state, const std::string& text) {
  const std::string code = source::print(state.unit);
  EXPECT_NE(code.find(text), std::string::npos) << "no '" << text << "' in\n" << code;
}

void expect_no_text(const rewrite::KernelState& state, const std::string& text) {
  const std::string code = source::print(state.unit);
  EXPECT_EQ(code.find(text), std::string::npos) << text << " in\n" << code;
}

constexpr const char* kOddSizes =
    "tests: [{M: 37, N: 41, K: 29}, {M: 16, N: 16, K: 32}, {M: 1, N: 1, K: 1}]\n";

// A product with tiles of 16 x 16; `fill` and `use` in its loop over strips.
Result<std::unique_ptr<KernelCase>> product(const std::string& fill, const std::string& use,
                                            const std::string& more = kOddSizes) {
  return KernelCase::make(
      "__global__ void f(const float* A, const float* B, float* C, int M, int N, int K) {\n"
      "  __shared__ float a[16][16];\n  __shared__ float b[16][16];\n"
      "  int tx = threadIdx.x, ty = threadIdx.y;\n"
      "  int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;\n  float sum = 0.0f;\n"
      "  for (int t = 0; t < (K + 15) / 16; ++t) {\n" +
          fill + use + "  }\n  if (row < M && col < N) C[row * N + col] = sum;\n}",
      "sizes: {M: 64, N: 64, K: 64}\n"
      "args:\n  A: {dir: in, shape: ['M * K + 64']}\n  B: {dir: in, shape: ['(K + 64) * N + 64']}\n"
      "  C: {dir: inout, shape: [M, N]}\n"
      "launch: {block: [16, 16], grid: ['cdiv(N, 16)', 'cdiv(M, 16)']}\n" +
          more);
}

constexpr const char* kFillA =
    "    a[ty][tx] = row < M && t * 16 + tx < K ? A[row * K + t * 16 + tx] : 0.0f;\n";
constexpr const char* kFillB =
    "    b[ty][tx] = t * 16 + ty < K && col < N ? B[(t * 16 + ty) * N + col] : 0.0f;\n";
constexpr const char* kUse =
    "    __syncthreads();\n"
    "    for (int k = 0; k < 16; ++k) sum += a[ty][k] * b[k][tx];\n    __syncthreads();\n";

void expect_product_refused(const std::string& fill, const std::string& use,
                            const std::string& reason, const std::string& more = kOddSizes) {
  SCOPED_TRACE(fill + use);
  const auto kernel = product(fill, use, more);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_refusal(**kernel, kUntile, reason);
}

TEST(Untile, LeavesThePlainLoop) {
  const auto kernel = sample("tiled_product");
  const auto plain = expect_correct(*kernel, {kUntile});
  expect_text(plain,
              "for (int k = 0; k < K; ++k) {\n      sum += A[row * K + k] * B[k * N + col];");
  expect_no_text(plain, "__s");
  EXPECT_EQ(plain.plan.launches[0].grid[0].text(), "cdiv(N, bx)");
}

TEST(Untile, KnowsOtherWaysToSayIt) {
  expect_text(expect_correct(*sample("flat_tiles"), {kUntile}), "< K; ++k)");
  expect_text(expect_correct(*sample("whole_tiles"), {kUntile}),
              "value += A[row * width + k] * B[k * width + col]");
  expect_text(expect_correct(*sample("counted_tiles"), {kUntile}),
              "sum += A[row * wA + k] * B[k * wB + column]");
  expect_text(expect_correct(*sample("staged_vector"), {kUntile}),
              "for (int k = 0; k < rows; ++k) {\n      sum += A[k * columns + column] * x[k];");
}

// A product in half precision: each thread fills its row and its column of a strip.
Result<std::unique_ptr<KernelCase>> half_product(const std::string& fill) {
  return KernelCase::make(
      "#include <cuda_fp16.h>\n"
      "__global__ void f(const __half* A, const __half* B, float* C, int M, int N, int K) {\n"
      "  __shared__ __half a[16][32];\n  __shared__ __half b[32][16];\n"
      "  int tx = threadIdx.x, ty = threadIdx.y;\n"
      "  int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;\n  float sum = 0.0f;\n"
      "  for (int t = 0; t < K; t += 32) {\n" +
          fill +
          "    __syncthreads();\n    for (int k = 0; k < 32; ++k) sum += __half2float(a[ty][k]) * "
          "__half2float(b[k][tx]);\n    __syncthreads();\n"
          "  }\n  if (row < M && col < N) C[row * N + col] = sum;\n}",
      "sizes: {M: 64, N: 64, K: 64}\n"
      "args: {A: {dir: in, shape: [M, K]}, B: {dir: in, shape: [K, N]}, C: {dir: inout, shape: "
      "[M, N]}}\nlaunch: {block: [16, 16], grid: ['cdiv(N, 16)', 'cdiv(M, 16)']}\n" +
          std::string(kOddSizes));
}

constexpr const char* kFillRow =
    "    for (int i = 0; i < 32; ++i) {\n      int at = t + i;\n"
    "      if (row < M && at < K && tx < 16) {\n        a[ty][i] = A[row * K + at];\n"
    "      } else if (tx < 16 && ty < 16) {\n        a[ty][i] = __float2half(0.0f);\n"
    "      }\n    }\n";

TEST(Untile, KnowsIndicesThatAreTakenApartAndPutTogether) {
  const auto kernel = product(
      "    int at = t * 16 + tx;\n"
      "    a[ty][tx] = row < M && at < K ? A[row * K + at / 8 * 8 + at % 8] : 0.0f;\n",
      std::string(kFillB) + kUse);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_text(expect_correct(**kernel, {kUntile}), "for (int k = 0; k < K; ++k)");
}

TEST(Untile, KnowsArraysThatLoopsFill) {
  const auto kernel = half_product(
      std::string(kFillRow) +
      "    for (int j = 0; j < 32; ++j) b[j][tx] = t + j < K && col < N ? B[(t + j) * N + col] : "
      "__float2half(0.f);\n");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const auto plain = expect_correct(**kernel, {kUntile});
  expect_text(plain, "for (int k = 0; k < K; ++k) {");
  expect_no_text(plain, "__s");
}

// An element of a later round would be what an earlier strip left.
TEST(Untile, RefusesArraysThatTheLoopOfTheirFillReads) {
  std::string fill = kFillRow;
  fill.insert(fill.rfind("    }\n"), "      c[ty][i] = a[ty][i];\n");
  const auto kernel = half_product(
      "    __shared__ __half c[16][32];\n" + fill +
      "    for (int j = 0; j < 32; ++j) b[j][tx] = t + j < K && col < N ? B[(t + j) * N + col] : "
      "__float2half(0.f);\n");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_refusal(**kernel, kUntile, "what is copied is not of a buffer that is only read");
}

// Each round of `j` puts another value into the same element: the last one stays.
TEST(Untile, RefusesRoundsThatFillTheSame) {
  const auto kernel =
      half_product(std::string(kFillRow) +
                   "    for (int i = 0; i < 32; ++i)\n      for (int j = 0; j < 2; ++j)\n"
                   "        b[i][tx] = B[(j < K ? j : 0) * N + (col < N ? col : 0)];\n");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_refusal(**kernel, kUntile, "'j' changes or comes from memory");
}

// What lies beyond the end is a point like others there: it stays.
TEST(Untile, KeepsWhatIsBeyondTheEndWhereItMayCount) {
  const auto kernel = sample("staged_positions");
  const auto plain = expect_correct(*kernel, {kUntile});
  expect_text(plain, "k < n ? position[k] : make_float4");
  EXPECT_EQ(plain.plan.launches[0].dynamic_shared_bytes.text(), "0");
}

// Zero times an element is no number where that is infinite, so iterations with one that is really
// there stay.
TEST(Untile, KeepsProductsWithElementsThatAreThere) {
  const auto kernel =
      product(std::string(kFillA) + "    b[ty][tx] = B[(t * 16 + ty) * N + col];\n", kUse);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_text(expect_correct(**kernel, {kUntile}), "k_end = (K + 15) / 16 * 16;");
}

TEST(Untile, OnTheWayOfOtherSteps) {
  for (const char* name : {"tiled_product", "flat_tiles"}) {
    SCOPED_TRACE(name);
    expect_correct(*sample(name), {kContraction});
  }
  expect_correct(*sample("staged_vector"), {{"slice_reduction", {{"slices", "8"}}}});
}

// A product with tiles of 32 x 32, four rows a thread; what `fill` and `use` say of row i and r.
Result<std::unique_ptr<KernelCase>> product_of_rows(const std::string& fill, const std::string& use,
                                                    const std::string& store) {
  return KernelCase::make(
      "__global__ void f(const float* A, const float* B, float* C, int M, int N, int K) {\n"
      "  __shared__ float a[32][33];\n  __shared__ float b[32][33];\n"
      "  const int column = blockIdx.x * 32 + threadIdx.x;\n  const int top = blockIdx.y * 32;\n"
      "  float acc[4] = {};\n  for (int base = 0; base < K; base += 32) {\n" +
          fill + "    __syncthreads();\n    for (int i = 0; i < 32; ++i) {\n" +
          "      const float w = b[threadIdx.x][i];\n" + use +
          "    }\n    __syncthreads();\n  }\n  if (column >= N) return;\n" + store + "}",
      "sizes: {M: 64, N: 64, K: 64}\nargs:\n  A: {dir: in, shape: [M, K]}\n"
      "  B: {dir: in, shape: [N, K]}\n  C: {dir: inout, shape: [M, N]}\n"
      "launch: {block: [32, 8], grid: ['cdiv(N, 32)', 'cdiv(M, 32)']}\n" +
          std::string(kOddSizes) + "assume: {noalias: true, reassociate: true}\n");
}

// Fills, uses and stores of rows `pitch` apart, where a thread's first one is `first`.
std::string fill_of(const std::string& rows, const std::string& at) {
  return "    for (" + rows +
         ") {\n      const int k = base + threadIdx.x;\n"
         "      const int m = top + " +
         at + ", n = blockIdx.x * 32 + " + at +
         ";\n"
         "      a[" +
         at +
         "][threadIdx.x] = m < M && k < K ? A[m * K + k] : 0.0f;\n"
         "      b[" +
         at + "][threadIdx.x] = n >= N || k >= K ? 0.0f : B[n * K + k];\n    }\n";
}

TEST(Untile, GivesEachRowOfAThreadAThreadOfItsOwn) {
  for (const char* at : {"threadIdx.y + r * 8", "threadIdx.y * 4 + r"}) {
    SCOPED_TRACE(at);
    const std::string place = at;
    const auto kernel =
        product_of_rows(fill_of("int r = 0; r < 4; ++r", place),
                        "      for (int r = 0; r < 4; ++r) acc[r] += a[" + place + "][i] * w;\n",
                        "  for (int r = 0; r < 4; ++r) {\n    const int row = top + " + place +
                            ";\n    if (row < M) C[row * N + column] = acc[r];\n  }\n");
    ASSERT_TRUE(kernel.ok()) << kernel.error().message;
    const auto plain = expect_correct(**kernel, {kUntile});
    expect_text(plain, "i < K; ++i");
    expect_no_text(plain, "acc[");
    expect_no_text(plain, "__shared__");
  }
  // Counted by the rows themselves.
  const auto kernel = product_of_rows(
      fill_of("int i = 0; i < 32; i += 8", "threadIdx.y + i"),
      "      for (int r = 0; r < 4; ++r) acc[r] += a[threadIdx.y + r * 8][i] * w;\n",
      "  for (int r = 0; r < 4; ++r) {\n    if (top + threadIdx.y + r * 8 < M) "
      "C[(top + threadIdx.y + r * 8) * N + column] = acc[r];\n  }\n");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_no_text(expect_correct(**kernel, {kUntile}), "acc[");
}

TEST(Untile, KeepsRowsOfAThreadThatHandSomethingOn) {
  const std::string fill = fill_of("int r = 0; r < 4; ++r", "threadIdx.y + r * 8");
  const std::string use =
      "      for (int r = 0; r < 4; ++r) acc[r] += a[threadIdx.y + r * 8][i] * w;\n";
  const std::string store =
      "  for (int r = 0; r < 4; ++r) if (top + threadIdx.y + r * 8 < M) "
      "C[(top + threadIdx.y + r * 8) * N + column] = acc[r];\n";
  // From row to row, by their number, to a place of all rows.
  for (const auto& [used, stored] :
       {std::pair(use,
                  "  float all = 0.0f;\n  for (int r = 0; r < 4; ++r) { all += acc[r]; if (top "
                  "+ threadIdx.y + r * 8 < M) C[(top + threadIdx.y + r * 8) * N + column] = "
                  "all; }\n"),
        std::pair(
            "      for (int r = 0; r < 4; ++r) acc[3 - r] += a[threadIdx.y + r * 8][i] * w;\n" +
                std::string(),
            store.c_str()),
        std::pair(use,
                  "  if (top + threadIdx.y < M) C[(top + threadIdx.y) * N + column] = acc[0] + "
                  "acc[1] + acc[2] + acc[3];\n")}) {
    const auto kernel = product_of_rows(fill, used, stored);
    ASSERT_TRUE(kernel.ok()) << kernel.error().message;
    const auto state = (*kernel)->apply((*kernel)->original(), "untile", {});
    ASSERT_FALSE(state.ok()) << source::print(state->unit);
  }
}

TEST(Untile, RefusesWhatIsNoCopy) {
  const std::string fills = std::string(kFillA) + kFillB;
  expect_product_refused(fills, kUse, "'assume: {noalias: true}'",
                         "assume: {noalias: false}\ntests: [{M: 37, N: 41, K: 29}]\n");
  expect_product_refused(
      "    a[ty][tx] = row < M && col < N ? C[row * N + col] : 0.0f;\n" + std::string(kFillB), kUse,
      "not of a buffer that is only read");
  expect_product_refused("    a[ty][tx] = sum;\n" + std::string(kFillB), kUse,
                         "'sum' changes or comes from memory");
  expect_product_refused("    a[ty][tx] = 1.0f;\n" + fills, kUse, "filled several times");
  expect_product_refused("    a[15 - ty][tx] = 1.0f;\n" + std::string(kFillB), kUse,
                         "does not fill the element of its own indices");
  expect_refusal(*sample("matmul_guard"), kUntile, "uses no shared memory");
}

TEST(Untile, RefusesElementsThatNobodyFills) {
  expect_product_refused(std::string(kFillA) + kFillB,
                         "    __syncthreads();\n    for (int k = 0; k < 16; ++k) sum += "
                         "a[ty][(k + t) & 15] * b[k][tx];\n    __syncthreads();\n",
                         "may be read that no thread fills");
  expect_product_refused(
      "    if (t * 16 + tx < K) a[ty][tx] = A[row * K + t * 16 + tx];\n" + std::string(kFillB),
      kUse, "may hold what an earlier round left", "tests: [{M: 16, N: 16, K: 32}]\n");
}

// Where the loop runs once, nothing shows that.
TEST(Untile, RefusesRoundsWithoutABarrierBetween) {
  expect_product_refused(
      std::string(kFillA) + kFillB,
      "    __syncthreads();\n    for (int k = 0; k < 16; ++k) sum += a[ty][k] * b[k][tx];\n",
      "filled again without a barrier", "tests: [{M: 37, N: 41, K: 16}]\n");
}

// In groups, a thread does the work of several: names of its index are of each of them.
TEST(Untile, NamesOfThreadsFollowGroups) {
  const auto kernel = KernelCase::make(
      "__global__ void f(const float* a, float* b, int n) {\n"
      "  int tx = threadIdx.x, bx = blockIdx.x;\n  int i = bx * 64 + tx;\n"
      "  if (i < n) b[i] = 2.0f * a[i];\n}",
      "sizes: {n: 1000}\nargs: {a: {shape: [n]}, b: {dir: out, shape: [n]}}\n"
      "launch: {block: 64, grid: 'cdiv(n, bx)'}\ntests: [{n: 1000}, {n: 1}]\n");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_correct(**kernel,
                 {{"thread_coarsen", {{"axis", "x"}, {"factor", "4"}, {"order", "grouped"}}}});
}

}  // namespace
}  // namespace regraph::test::untile_test
