// reshape_block: flat blocks as blocks of rows, grids that go along with them.
#include "rewrite/step_checks.h"

namespace regraph::test::reshape_block_test {
namespace {

const Application kReshaped = {"reshape_block", {}};

Result<std::unique_ptr<KernelCase>> case_of(const std::string& body, const std::string& launch) {
  return KernelCase::make(
      "__global__ void f(const float* a, float* b, int h, int w) {\n" + body + "\n}",
      "sizes: {h: 32, w: 64}\nargs:\n  a: {dir: in, shape: [h, w]}\n"
      "  b: {dir: inout, shape: [h, w]}\nlaunch: " +
          launch + "\ntests: [{h: 32, w: 64}, {h: 16, w: 16}, {h: 48, w: 32}]\n");
}

const std::string kCrossed = "{block: 256, grid: ['cdiv(h, 16)', 'cdiv(w, 16)']}";
const std::string kUnguarded = "{block: 256, grid: ['h / 16', 'w / 16']}";

void expect_body_refused(const std::string& body, const std::string& reason,
                         const std::string& launch = kCrossed) {
  SCOPED_TRACE(body);
  const auto kernel = case_of(body, launch);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_refusal(**kernel, kReshaped, reason);
}

TEST(ReshapeBlock, MakesRowsAndLetsTheGridFollow) {
  for (const char* body :
       {"int y = blockIdx.x * 16 + threadIdx.x / 16; int x = blockIdx.y * 16 + threadIdx.x % 16;"
        "if (y < h && x < w) b[y * w + x] += a[y * w + x];",
        "int t = threadIdx.x; int y = blockIdx.x * 16 + (t >> 4); int x = blockIdx.y * 16 + (t & "
        "15);"
        "if (y >= h || x >= w) return; b[y * w + x] += a[y * w + x];"}) {
    SCOPED_TRACE(body);
    const auto kernel = case_of(body, kCrossed);
    ASSERT_TRUE(kernel.ok()) << kernel.error().message;
    const auto reshaped = expect_correct(**kernel, {kReshaped});
    const Launch& launch = reshaped.plan.launches[0];
    EXPECT_EQ(launch.block, (Dim3{16, 16, 1}));
    EXPECT_EQ(launch.grid[0].text(), "cdiv(w, bx)");
    EXPECT_EQ(launch.grid[1].text(), "cdiv(h, by)");
    expect_correct(**kernel, {kReshaped,
                              {"block_size", {{"block", "32x4"}}},
                              {"thread_coarsen", {{"axis", "y"}, {"factor", "4"}}}});
  }
}

TEST(ReshapeBlock, StopsThreadsBeyondAGridThatHadNoGuard) {
  const auto kernel = case_of(
      "int y = blockIdx.x * 16 + threadIdx.x / 16; int x = blockIdx.y * 16 + threadIdx.x % 16;"
      "b[y * w + x] += a[y * w + x];",
      kUnguarded);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const auto reshaped = expect_correct(**kernel, {kReshaped});
  EXPECT_EQ(reshaped.plan.launches[0].grid[0].text(), "cdiv(16 * (w / 16), bx)");
  const std::string code = source::print(reshaped.unit);
  EXPECT_NE(code.find("_end = 16 * (w / 16)"), std::string::npos) << code;
  // The guard is one that ends the grid: blocks that are larger than the rest need no other.
  const auto coarse =
      expect_correct(**kernel, {kReshaped,
                                {"block_size", {{"block", "32x32"}}},
                                {"thread_coarsen", {{"axis", "y"}, {"factor", "4"}}}});
  EXPECT_EQ(coarse.plan.launches[0].grid[1].text(), "cdiv(16 * (h / 16), 4 * by)");
}

// Where the launch is written in the old block's extents.
TEST(ReshapeBlock, KeepsTheGridAndSharedMemoryOfTheOldBlock) {
  const auto kernel = case_of(
      "extern __shared__ float t[];"
      "int r = threadIdx.x / 16; int c = threadIdx.x % 16; t[r * 16 + c] = a[r * w + c];"
      "__syncthreads(); if (blockIdx.x * 16 + r < h && c < w)"
      " b[(blockIdx.x * 16 + r) * w + c] += t[c * 16 + r];",
      "{block: 256, grid: 'cdiv(16 * h, bx)', smem: '4 * bx'}");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const auto reshaped = expect_correct(**kernel, {kReshaped});
  EXPECT_EQ(reshaped.plan.launches[0].grid[0].text(), "cdiv(16 * h, 256)");
  EXPECT_EQ(reshaped.plan.launches[0].dynamic_shared_bytes.text(), "1024");
}

TEST(ReshapeBlock, KeepsWhatThreadsDoTogether) {
  const auto kernel = case_of(
      "__shared__ float t[16][17];"
      "int r = threadIdx.x / 16; int c = threadIdx.x % 16;"
      "t[r][c] = a[(blockIdx.x * 16 + r) * w + blockIdx.y * 16 + c]; __syncthreads();"
      "float v = __shfl_xor_sync(0xffffffffu, t[c][r], 1);"
      "b[(blockIdx.x * 16 + r) * w + blockIdx.y * 16 + c] += v;",
      kUnguarded);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const auto reshaped = expect_correct(**kernel, {kReshaped});
  EXPECT_EQ(reshaped.plan.launches[0].block, (Dim3{16, 16, 1}));
  // Who works together keeps the blocks that it has.
  EXPECT_EQ(reshaped.plan.launches[0].grid[0].text(), "w / 16");
}

TEST(ReshapeBlock, RefusesWhatIsNotOnlyTakenApart) {
  // With a barrier, so that the grid cannot be made to follow the block instead.
  const std::string place =
      "int y = blockIdx.x * 16 + threadIdx.x / 16; int x = blockIdx.y * 16 + threadIdx.x % 16;"
      "__syncthreads(); if (y < h && x < w) b[y * w + x] += a[y * w + x] + ";
  expect_body_refused(place + "threadIdx.x;", "threads use their number whole, too");
  expect_body_refused(place + "threadIdx.x % 32;",
                      "threads take their number apart by several constants");
  expect_body_refused(place + "blockDim.x;", "the kernel asks for the block's extents");
  expect_body_refused(
      "int i = blockIdx.x * 256 + threadIdx.x; __syncthreads();"
      "if (blockIdx.y == 0 && i < h * w) b[i] += a[i];",
      "no thread takes its number apart by / and % of a constant");
  expect_body_refused(
      "int y = threadIdx.x / 24; int x = threadIdx.x % 24; __syncthreads();"
      "if (blockIdx.x + blockIdx.y == 0 && y < h && x < w) b[y * w + x] += a[y * w + x];",
      "threads take their number apart by 24, which does not divide the block");
}

// A limit that is no polynomial of the sizes, by its name.
TEST(ReshapeBlock, IsWhatContractionBeginsWith) {
  const auto flat = KernelCase::make(
      "__global__ void f(const float* a, const float* b, float* c, int m, int n, int k) {\n"
      "  int y = blockIdx.x * 16 + threadIdx.x / 16; int x = blockIdx.y * 16 + threadIdx.x % 16;\n"
      "  float sum = 0;\n  for (int i = 0; i < k; ++i) sum += a[y * k + i] * b[i * n + x];\n"
      "  c[y * n + x] = sum;\n}",
      "sizes: {m: 64, n: 64, k: 64}\nargs:\n  a: {dir: in, shape: [m, k]}\n"
      "  b: {dir: in, shape: [k, n]}\n  c: {dir: out, shape: [m, n]}\n"
      "launch: {block: 256, grid: ['m / 16', 'n / 16']}\n"
      "tests: [{m: 16, n: 48, k: 20}, {m: 32, n: 16, k: 16}]\n");
  ASSERT_TRUE(flat.ok()) << flat.error().message;
  const auto tiled = expect_correct(
      **flat, {{"contraction", {{"block", "8x8"}, {"outputs", "8x8"}, {"depth", "16"}}}});
  EXPECT_EQ(tiled.plan.launches[0].block, (Dim3{8, 8, 1}));
}

}  // namespace
}  // namespace regraph::test::reshape_block_test
