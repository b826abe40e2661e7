// Steps for stencils and convolutions whose threads produce rows that follow each other.
#include "rewrite/step_checks.h"

namespace regraph::test::window_steps_test {
namespace {

// At sizes with blocks inside, blocks at all borders, and nothing but borders.
Result<std::unique_ptr<KernelCase>> five_points(const std::string& types = "int nx, int ny") {
  return KernelCase::make(
      "__global__ void stencil(const float* in, float* out, " + types +
          ") {\n"
          "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
          "  int j = blockIdx.y * blockDim.y + threadIdx.y;\n"
          "  if (i > 0 && i < nx - 1 && j > 0 && j < ny - 1)\n"
          "    out[j * nx + i] = in[j * nx + i - 1] + in[j * nx + i + 1] + in[(j - 1) * nx + i] +\n"
          "                      in[(j + 1) * nx + i];\n}",
      "sizes: {nx: 1024, ny: 1024}\n"
      "args: {in: {dir: in, shape: [ny, nx]}, out: {dir: inout, shape: [ny, nx]}}\n"
      "launch: {block: [32, 4], grid: ['cdiv(nx, bx)', 'cdiv(ny, by)']}\n"
      "tests: [{nx: 131, ny: 67}, {nx: 128, ny: 64}, {nx: 97, ny: 13}, {nx: 2, ny: 2}, {nx: 1, ny: "
      "1}]\n");
}

// No guard compares places alone.
Result<std::unique_ptr<KernelCase>> nothing_to_ask() {
  return KernelCase::make(
      "__global__ void f(const float* a, float* b, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (a[i] > 0.5f || i < n) b[i] = i % 3 == 0 ? a[i] : 1.0f;\n}",
      "sizes: {n: 128}\nargs: {a: {dir: in, shape: [n]}, b: {dir: inout, shape: [n]}}\n"
      "launch: {block: 64, grid: 2}\ntests: [{n: 128}]\n");
}

const Application kSplit = {"branch_hoist", {{"form", "split"}}};

Application window(const char* axis, const char* rows, const char* block) {
  return {"window", {{"axis", axis}, {"rows", rows}, {"block", block}}};
}

Application coarsen(const char* axis, const char* factor, const char* order) {
  return {"thread_coarsen", {{"axis", axis}, {"factor", factor}, {"order", order}}};
}

TEST(BranchHoist, BlocksInsideAskNothing) {
  auto kernel = five_points();
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const auto state = expect_correct(**kernel, {kSplit});
  const std::string text = source::print(state.unit);
  EXPECT_NE(text.find("(int)blockIdx.x * 32 > 0"), std::string::npos) << text;
  EXPECT_NE(text.find("(int)blockIdx.x * 32 + 32 < nx"), std::string::npos) << text;
  // The version inside holds no other condition.
  const std::size_t inside = text.find("if (");
  const std::size_t border = text.find("else", inside);
  ASSERT_NE(border, std::string::npos) << text;
  EXPECT_EQ(text.substr(inside + 4, border - inside - 4).find("if ("), std::string::npos) << text;
  expect_refusal(**kernel, state, kSplit, "asks for blocks inside already");
  expect_refusal(**kernel, state, coarsen("y", "2", "contiguous"), "merging blocks comes before");
}

TEST(BranchHoist, KeepsSharedArraysAndBarriers) {
  for (const char* name : {"convolution_5x5", "fixed_width_blur", "zero_padded_3x3",
                           "seven_point_stencil", "saxpy_return", "column_sums"}) {
    SCOPED_TRACE(name);
    const auto kernel = sample(name);
    ASSERT_NE(kernel, nullptr);
    expect_correct(*kernel, {kSplit});
  }
  const auto blur = sample("convolution_5x5");
  expect_correct(*blur, {{"smem_halo", {}}, kSplit});
  expect_correct(*sample("matmul_guard"),
                 {{"smem_tile", {{"loop", "1"}, {"depth", "16"}}}, kSplit});
  expect_correct(*sample("tiled_product"), {kSplit});
}

// With an unsigned size every comparison is one without signs.
TEST(BranchHoist, SizesMayBeUnsigned) {
  auto kernel = five_points("unsigned nx, unsigned ny");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_correct(**kernel, {kSplit});
  auto wide = five_points("size_t nx, size_t ny");
  ASSERT_TRUE(wide.ok()) << wide.error().message;
  expect_correct(**wide, {kSplit});
}

// A guard that fails inside the part of the grid where all others hold.
TEST(BranchHoist, ShiftedPlacesAreComparedWithTheirSigns) {
  auto kernel = KernelCase::make(
      "__global__ void f(const float* a, float* b, unsigned n, int shift) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  int from = i - shift;\n"
      "  if (i < (int)n) {\n    float v = 7.0f;\n"
      "    if (from < (int)n && from >= 0) v = a[from];\n    b[i] = v;\n  }\n}",
      "sizes: {n: 1000}\nargs: {a: {dir: in, shape: [n]}, b: {dir: out, shape: [n]}, shift: 40}\n"
      "launch: {block: 64, grid: 'cdiv(n, bx)'}\ntests: [{n: 300}, {n: 256}, {n: 1}]\n");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_correct(**kernel, {kSplit});
}

TEST(BranchHoist, RefusesWithAReason) {
  auto plain = nothing_to_ask();
  ASSERT_TRUE(plain.ok()) << plain.error().message;
  expect_refusal(**plain, kSplit, "no condition compares places");
  const auto kernel = sample("five_point_stencil");
  const auto wrong = kernel->apply(kernel->original(), "branch_hoist", {{"form", "both"}});
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().code, ErrorCode::invalid_argument);
}

TEST(Window, RowsOfAThreadFollowEachOther) {
  auto kernel = five_points();
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const auto state = expect_correct(**kernel, {window("y", "4", "keep")});
  const std::string text = source::print(state.unit);
  EXPECT_NE(text.find("__restrict__"), std::string::npos) << text;
  EXPECT_EQ(state.plan.launches[0].block, (Dim3{32, 4, 1}));
  EXPECT_EQ(state.plan.launches[0].grid[1].text(), "cdiv(ny, 4 * by)");
  const auto blocks = expect_correct(**kernel, {window("y", "8", "64x4")});
  EXPECT_EQ(blocks.plan.launches[0].block, (Dim3{64, 4, 1}));
}

// Threads that walk along x, and flat indices that are taken apart by sizes that have a name alone.
TEST(Window, OpensOtherOwnersOfTheWork) {
  const auto walks = sample("walks_along_rows");
  ASSERT_NE(walks, nullptr);
  const auto state = expect_correct(*walks, {window("z", "4", "64x4")});
  EXPECT_EQ(state.plan.launches[0].block, (Dim3{64, 4, 1}));
  EXPECT_EQ(state.plan.launches[0].grid[0].text(), "cdiv(width, bx)");
  expect_correct(*walks, {window("y", "2", "keep")});
  const auto pooling = sample("halved_pooling");
  ASSERT_NE(pooling, nullptr);
  // The block is that already once the index is taken apart.
  expect_correct(*pooling, {window("y", "2", "32x2")});
  expect_correct(*pooling, {window("y", "4", "32x8")});
  expect_correct(*pooling,
                 {{"window", {{"axis", "y"}, {"rows", "2"}, {"block", "32x8"}, {"vector", "4"}}}});
}

TEST(Window, TakesConvolutionsAndThreeDimensions) {
  for (const char* name : {"convolution_5x5", "padded_jacobi", "zero_padded_3x3"}) {
    SCOPED_TRACE(name);
    const auto kernel = sample(name);
    ASSERT_NE(kernel, nullptr);
    expect_correct(*kernel, {window("y", "4", "64x4")});
    expect_correct(*kernel, {window("y", "2", "keep")});
  }
  const auto heat = sample("seven_point_stencil");
  expect_correct(*heat, {window("z", "4", "keep")});
  expect_correct(*heat, {window("y", "2", "keep")});
  expect_correct(*heat, {window("y", "4", "32x8")});
  expect_refusal(*sample("zero_padded_3x3"), window("y", "4", "32x8"),
                 "block_size: the block is 32x8 already");
}

TEST(Window, RefusesWithTheReasonOfItsMember) {
  auto plain = nothing_to_ask();
  ASSERT_TRUE(plain.ok()) << plain.error().message;
  expect_refusal(**plain, window("y", "4", "keep"), "branch_hoist: no condition compares places");
  expect_refusal(*sample("saxpy_return"), window("y", "4", "keep"),
                 "thread_coarsen: the kernel does not use blockIdx.y");
}

TEST(ThreadCoarsen, NeighboursInOneThread) {
  const auto heat = sample("seven_point_stencil");
  const auto state = expect_correct(*heat, {coarsen("z", "4", "contiguous")});
  EXPECT_EQ(state.plan.launches[0].grid[2].text(), "cdiv(nz, 4 * bz)");
  expect_correct(*heat, {{"thread_coarsen", {{"axis", "z"}, {"factor", "2"}}}});
  expect_correct(*sample("batched_product"),
                 {{"thread_coarsen", {{"axis", "z"}, {"factor", "2"}}}});
  for (const char* name :
       {"matmul_guard", "matmul_return_macro", "five_point_stencil", "convolution_5x5"}) {
    SCOPED_TRACE(name);
    const auto kernel = sample(name);
    ASSERT_NE(kernel, nullptr);
    expect_correct(*kernel, {coarsen("x", "8", "grouped")});
    expect_correct(*kernel, {coarsen("y", "4", "grouped"), coarsen("x", "4", "grouped")});
    expect_correct(*kernel, {coarsen("y", "4", "contiguous")});
  }
}

TEST(ThreadCoarsen, RefusesOrdersWithAReason) {
  const auto kernel = sample("matmul_guard");
  const auto once = expect_correct(*kernel, {{"thread_coarsen", {{"axis", "y"}, {"factor", "2"}}}});
  expect_refusal(*kernel, once, coarsen("y", "4", "grouped"),
                 "threads do the work of several along y already");
  expect_refusal(*kernel, once, coarsen("y", "2", "contiguous"),
                 "threads do the work of several along y already");
  // Neighbours of neighbours are neighbours.
  expect_correct(*kernel, {coarsen("y", "4", "grouped"), coarsen("y", "2", "contiguous")});
  expect_refusal(*sample("tiled_product"), coarsen("x", "4", "grouped"), "work together");
  expect_refusal(*kernel, {"thread_coarsen", {{"axis", "z"}, {"factor", "2"}}},
                 "does not use blockIdx.z");
  for (const auto& [factor, order] : {std::pair{"2", "grouped"}, std::pair{"4", "sorted"}}) {
    const auto wrong = kernel->apply(kernel->original(), "thread_coarsen",
                                     {{"axis", "x"}, {"factor", factor}, {"order", order}});
    ASSERT_FALSE(wrong.ok());
    EXPECT_EQ(wrong.error().code, ErrorCode::invalid_argument);
  }
}

}  // namespace
}  // namespace regraph::test::window_steps_test
