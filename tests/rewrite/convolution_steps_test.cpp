// Steps for convolutions on tiles in shared memory.
#include "rewrite/step_checks.h"

namespace regraph::test::convolution_steps_test {
namespace {

Application tile(const char* depth) {
  return {"window_tile", {{"depth", depth}}};
}

Application coarsen(const char* axis, const char* factor, const char* order = nullptr) {
  StepParameters parameters = {{"axis", axis}, {"factor", factor}};
  if (order != nullptr) parameters["order"] = order;
  return {"thread_coarsen", parameters};
}

Application convolution(const char* block, const char* rows, const char* outputs,
                        const char* depth) {
  return {"convolution",
          {{"block", block}, {"rows", rows}, {"outputs", outputs}, {"depth", depth}}};
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

TEST(WindowTile, ReadsNeighbourhoodAndFilterFromTiles) {
  const auto blur = sample("convolution_5x5");
  ASSERT_NE(blur, nullptr);
  const auto state = expect_correct(*blur, {tile("all")});
  const std::string text = source::print(state.unit);
  EXPECT_NE(text.find("__shared__ float in_tile[20][20]"), std::string::npos) << text;
  EXPECT_NE(text.find("__shared__ __align__(16) float filter_tile[5][8]"), std::string::npos)
      << text;
  // What would be no number is added up as before.
  EXPECT_NE(text.find("if (!(sum == sum))"), std::string::npos) << text;
  expect_refusal(*blur, state, tile("all"), "uses shared memory already");
}

// Channels, planes, rows and columns.
TEST(WindowTile, StagesBoxesOfVolumes) {
  const auto volume = sample("volume_filters");
  ASSERT_NE(volume, nullptr);
  const auto state = expect_correct(*volume, {coarsen("z", "8"), tile("all")});
  EXPECT_NE(source::print(state.unit).find("float in_tile[2][2][10][34]"), std::string::npos)
      << source::print(state.unit);
  expect_correct(*volume, {convolution("32x8", "2", "8", "all")});
  expect_correct(*volume, {{"smem_halo", {}}});
}

// Guards end at a quotient of sizes, and no block is left over where the outputs' number is known.
TEST(Convolution, StridedOutputsAreCounted) {
  const auto layer = sample("strided_layer");
  ASSERT_NE(layer, nullptr);
  expect_correct(*layer, {coarsen("y", "4", "contiguous")});
  const auto state = expect_correct(*layer, {convolution("32x4", "2", "16", "1")});
  const std::string text = source::print(state.unit);
  EXPECT_NE(text.find("float in_tile[1][26][98]"), std::string::npos) << text;
  EXPECT_EQ(state.plan.launches.front().grid[2].text(), "images");
  expect_refusal(*layer, layer->original(), convolution("32x8", "4", "1", "2"),
                 "output channels read the same input");
}

// Elements of the tile are what threads and taps have in common: 32 threads, three columns apart.
TEST(Convolution, GoesAlongALine) {
  const auto line = sample("strided_line");
  ASSERT_NE(line, nullptr);
  Application along = convolution("32x8", "8", "1", "4");
  along.parameters["columns"] = "4";
  const auto state = expect_correct(*line, {along});
  const std::string text = source::print(state.unit);
  EXPECT_NE(text.find("float in_tile[4][390]"), std::string::npos) << text;
  EXPECT_NE(text.find("(int)gridDim.z * inputs * length"), std::string::npos) << text;
  expect_refusal(*line, state, coarsen("z", "2"), "the kernel uses gridDim.z");
}

TEST(SmemTile, StripsAreNoLongerThanTheirLoop) {
  const auto layer = sample("strided_layer");
  ASSERT_NE(layer, nullptr);
  expect_refusal(*layer, layer->original(), {"smem_tile", {{"depth", "8"}, {"loop", "1"}}},
                 "iterations, fewer than a strip of 8");
}

TEST(WindowTile, RowsOfAThreadShareTheTile) {
  const auto blur = sample("convolution_5x5");
  ASSERT_NE(blur, nullptr);
  const auto state = expect_correct(*blur, {coarsen("y", "4", "contiguous"), tile("all")});
  EXPECT_NE(source::print(state.unit).find("in_tile[68][20]"), std::string::npos);
  expect_correct(*blur, {coarsen("y", "2"), tile("all")});
  expect_correct(*blur, {coarsen("x", "4", "grouped"), tile("all")});
  // More than is written out: the loop over rows comes next to the outputs.
  const auto long_state = expect_correct(*blur, {coarsen("y", "32", "contiguous"), tile("all")});
  const std::string text = source::print(long_state.unit);
  EXPECT_LT(text.find("for (int dx = -2"), text.find("for (int dy = -2")) << text;
  EXPECT_EQ(
      long_state.assumptions,
      (std::vector<std::string>{"buffers do not overlap", "floating-point sums may be reordered"}));
}

TEST(WindowTile, GoesThroughChannelsInStrips) {
  const auto layer = sample("channels_3x3");
  ASSERT_NE(layer, nullptr);
  for (const char* depth : {"1", "2", "4", "8"}) {
    SCOPED_TRACE(depth);
    expect_correct(*layer, {tile(depth)});
    expect_correct(*layer, {coarsen("y", "2", "contiguous"), coarsen("z", "8"), tile(depth)});
  }
  const auto state = expect_correct(*layer, {coarsen("z", "4"), tile("2")});
  const std::string text = source::print(state.unit);
  EXPECT_NE(text.find("float in_tile[2][18][18]"), std::string::npos) << text;
  EXPECT_NE(text.find("float weights_tile[2][3][3][4]"), std::string::npos) << text;
  EXPECT_EQ(count(text, "__syncthreads()"), 2U) << text;
  expect_refusal(*layer, tile("all"), "has to be staged in strips");
  expect_refusal(*sample("convolution_5x5"), tile("2"), "all of it is staged");
}

Application vector_tile(const char* depth) {
  return {"window_tile", {{"depth", depth}, {"copy", "vector"}}};
}

// Rows of the box begin and end where vectors do: two more elements on either side than are read.
TEST(WindowTile, FillsBoxesByVectors) {
  const auto blur = sample("convolution_5x5");
  ASSERT_NE(blur, nullptr);
  const auto state = expect_correct(*blur, {vector_tile("all")});
  const std::string text = source::print(state.unit);
  EXPECT_NE(text.find("__shared__ __align__(16) float in_tile[20][24]"), std::string::npos) << text;
  EXPECT_NE(text.find("const float4 in_vector = ((const float4*)&in[in_index])[0]"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("w % 4 == 0"), std::string::npos) << text;
  EXPECT_EQ(state.assumptions, (std::vector<std::string>{"buffers are aligned to 16 bytes",
                                                         "buffers do not overlap"}));
  const auto wrong =
      blur->apply(blur->original(), "window_tile", {{"depth", "all"}, {"copy", "wide"}});
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().code, ErrorCode::invalid_argument);
}

TEST(WindowTile, StripsArriveAhead) {
  const auto layer = sample("channels_3x3");
  ASSERT_NE(layer, nullptr);
  for (const char* stages : {"2", "3"}) {
    SCOPED_TRACE(stages);
    const Application ahead = {"async_pipeline", {{"stages", stages}}};
    expect_correct(*layer, {vector_tile("2"), ahead});
    expect_correct(*layer, {tile("2"), ahead});
  }
  const auto state =
      expect_correct(*layer, {vector_tile("2"), {"async_pipeline", {{"stages", "2"}}}});
  const std::string text = source::print(state.unit);
  EXPECT_NE(text.find("in_tile[2][2][18][24]"), std::string::npos) << text;
  EXPECT_NE(text.find("&in[in_index], 16)"), std::string::npos) << text;
  expect_correct(*layer, {vector_tile("2"), {"double_buffer", {}}});
  Application all = convolution("32x8", "2", "8", "2");
  all.parameters["copy"] = "vector";
  all.parameters["stages"] = "2";
  expect_correct(*layer, {all});
}

TEST(SmemHalo, FillsBoxesByVectors) {
  for (const char* name : {"convolution_5x5", "five_point_stencil", "padded_jacobi"}) {
    SCOPED_TRACE(name);
    const auto kernel = sample(name);
    ASSERT_NE(kernel, nullptr);
    const auto state = expect_correct(*kernel, {{"smem_halo", {{"copy", "vector"}}}});
    EXPECT_NE(source::print(state.unit).find("in_vector = ((const "), std::string::npos)
        << source::print(state.unit);
  }
}

// A guarded load leaves its variable in two parts, which the step does not put together.
TEST(WindowTile, BordersAreThoseOfTheStripThatIsStaged) {
  const auto tall = sample("tall_filter");
  ASSERT_NE(tall, nullptr);
  for (const char* depth : {"1", "2", "4"}) {
    SCOPED_TRACE(depth);
    expect_correct(*tall, {tile(depth)});
    expect_correct(*tall, {coarsen("y", "4", "contiguous"), tile(depth)});
  }
  // Of constant length, and a thread has several rows.
  const auto padded = sample("zero_padded_3x3");
  ASSERT_NE(padded, nullptr);
  expect_correct(*padded, {{"linearize", {}}, convolution("32x8", "4", "1", "2")});
}

TEST(WindowTile, TakesValuesWithANameThatAreUsedOnce) {
  expect_correct(*sample("strided_channels"), {tile("2")});
  // Sums of others may stand before the use.
  expect_correct(*sample("written_out_taps"), {tile("2")});
}

TEST(WindowTile, TakesElementsOfHalfPrecision) {
  auto kernel = KernelCase::make(
      "#include <cuda_fp16.h>\n"
      "__global__ void f(const __half* in, const __half* w, __half* out, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n"
      "  float s = 0.0f;\n  for (int k = 0; k < 5; ++k) {\n    int p = i + k - 2;\n"
      "    if (p >= 0 && p < n) s += __half2float(in[p]) * __half2float(w[k]);\n  }\n"
      "  out[i] = __float2half(s);\n}",
      "sizes: {n: 512}\nargs: {in: {dir: in, shape: [n]}, w: {dir: in, shape: [5]}, out: "
      "{dir: inout, shape: [n]}}\nlaunch: {block: 64, grid: 'cdiv(n, bx)'}\n"
      "tests: [{n: 130}, {n: 64}, {n: 1}]\n");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const auto state = expect_correct(**kernel, {tile("all")});
  EXPECT_NE(source::print(state.unit).find("in_tile"), std::string::npos);
}

TEST(WindowTile, TakesWindowsThatAreWrittenOut) {
  const auto kernel = sample("convolution_unrolled");
  ASSERT_NE(kernel, nullptr);
  // A place that is zero for one neighbour is so for all that read it.
  const auto state = expect_correct(*kernel, {{"delinearize", {{"axis", "x"}, {"dimensions", "1"}}},
                                              {"delinearize", {{"axis", "y"}, {"dimensions", "1"}}},
                                              tile("2")});
  const std::string text = source::print(state.unit);
  EXPECT_NE(text.find("in_tile["), std::string::npos) << text;
  EXPECT_NE(text.find("weights_tile["), std::string::npos) << text;
  expect_correct(*kernel, {convolution("32x8", "2", "1", "2")});
  expect_correct(*kernel, {convolution("32x8", "2", "2", "2")});
}

TEST(WindowTile, InfiniteFactorsAreSkippedWhereTheyWere) {
  const auto divided = sample("infinite_tap");
  ASSERT_NE(divided, nullptr);
  expect_correct(*divided, {tile("all")});
  expect_correct(*divided, {coarsen("x", "4", "grouped"), tile("all")});
  const auto state = expect_correct(*divided, {coarsen("x", "8", "grouped"),
                                               {"branch_hoist", {{"form", "split"}}},
                                               {"scalar_replacement", {{"rows", "all"}}},
                                               tile("all")});
  // The sums are added up where the guard fails, too, and so begin there: what computes with a
  // register that holds nothing may become anything, the other branch's code among it.
  const std::string code = source::print(state.unit);
  expect_text(code, "++cx) {\n      sum[gx][cx] = 0.0f;");
  expect_text(code, "++element) {\n    filter_row[element] = filter[element];");
}

TEST(WindowTile, RefusesWithAReason) {
  expect_refusal(*sample("matmul_guard"), tile("8"), "no loop leads from a thread's place");
  expect_refusal(*sample("saxpy_return"), tile("all"), "no loop that all threads reach");
  // The largest of a window is no sum.
  auto largest = KernelCase::make(
      "__global__ void pool(const float* a, float* b, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n"
      "  float m = 0.0f;\n"
      "  for (int j = 0; j < 5; ++j) {\n    if (i + j < n) m = fmaxf(m, a[i + j]);\n  }\n"
      "  b[i] = m;\n}",
      "sizes: {n: 1000}\nargs: {a: {dir: in, shape: [n]}, b: {dir: out, shape: [n]}}\n"
      "launch: {block: 64, grid: 'cdiv(n, bx)'}\ntests: [{n: 300}, {n: 1}]\n");
  ASSERT_TRUE(largest.ok()) << largest.error().message;
  expect_refusal(**largest, tile("all"), "does more than to add up");
  // What a guard skips is not a product.
  auto added = KernelCase::make(
      "__global__ void shifted(const float* a, float* b, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n"
      "  float m = 0.0f;\n"
      "  for (int j = 0; j < 5; ++j) {\n    if (i + j < n) m += a[i + j] - 1.0f;\n  }\n"
      "  b[i] = m;\n}",
      "sizes: {n: 1000}\nargs: {a: {dir: in, shape: [n]}, b: {dir: out, shape: [n]}}\n"
      "launch: {block: 64, grid: 'cdiv(n, bx)'}\ntests: [{n: 300}, {n: 1}]\n");
  ASSERT_TRUE(added.ok()) << added.error().message;
  expect_refusal(**added, tile("all"), "about an element of a factor");
  // Every thread stores, whatever the guard of the loop says.
  auto seen = KernelCase::make(
      "__global__ void seen(const float* a, float* b, int n, int m) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  float sum = 0.0f;\n"
      "  for (int j = 0; j < 5; ++j) {\n    if (i < m) sum += a[i + j] * 2.0f;\n  }\n"
      "  if (i < n) b[i] = sum;\n}",
      "sizes: {n: 1000, m: 500}\nargs: {a: {dir: in, shape: ['n + 4']}, b: {dir: out, shape: "
      "[n]}}\n"
      "launch: {block: 64, grid: 'cdiv(n, bx)'}\ntests: [{n: 300, m: 200}, {n: 4, m: 1}]\n");
  ASSERT_TRUE(seen.ok()) << seen.error().message;
  expect_refusal(**seen, tile("all"), "seen by threads that the loop's guards keep out");
  const auto blur = sample("convolution_5x5");
  const auto wrong = blur->apply(blur->original(), "window_tile", {{"depth", "0"}});
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().code, ErrorCode::invalid_argument);
}

// An array's elements are copies of each other where the same index says so.
TEST(WindowTile, SumsAreSeenAtTheirOwnIndex) {
  auto turned = KernelCase::make(
      "__global__ void turned(const float* a, float* b, int n) {\n"
      "  int i = (blockIdx.x * blockDim.x + threadIdx.x) * 2;\n  float sum[2];\n"
      "  for (int k = 0; k < 2; ++k) sum[k] = 0.0f;\n"
      "  for (int j = 0; j < 5; ++j) {\n    for (int k = 0; k < 2; ++k) {\n"
      "      if (i + k < n) sum[k] += a[i + k + j] * 2.0f;\n    }\n  }\n"
      "  for (int k = 0; k < 2; ++k) {\n    if (i + k < n) b[i + k] = sum[1 - k];\n  }\n}",
      "sizes: {n: 1000}\nargs: {a: {dir: in, shape: ['n + 4']}, b: {dir: out, shape: [n]}}\n"
      "launch: {block: 64, grid: 'cdiv(n, 2 * bx)'}\ntests: [{n: 301}, {n: 256}]\n");
  ASSERT_TRUE(turned.ok()) << turned.error().message;
  expect_refusal(**turned, tile("all"), "seen by threads that the loop's guards keep out");
}

TEST(Convolution, IsTheStepsOneAfterAnother) {
  const auto blur = sample("convolution_5x5");
  ASSERT_NE(blur, nullptr);
  const auto state = expect_correct(*blur, {convolution("32x8", "8", "1", "all")});
  EXPECT_EQ(state.plan.launches[0].block, (Dim3{32, 8, 1}));
  EXPECT_EQ(state.plan.launches[0].grid[1].text(), "cdiv(h, 8 * by)");
  const auto layer = sample("channels_3x3");
  expect_correct(*layer, {convolution("32x8", "2", "8", "4")});
  expect_correct(*layer, {convolution("32x4", "2", "16", "2")});
  expect_refusal(*layer, convolution("32x8", "2", "8", "all"), "window_tile: the loop over 'c'");
  expect_refusal(*blur, convolution("32x8", "2", "8", "all"),
                 "thread_coarsen: the kernel does not use blockIdx.z");
}

TEST(SmemHalo, ThreadsMayHaveSeveralRows) {
  for (const char* name : {"convolution_5x5", "five_point_stencil", "padded_jacobi"}) {
    SCOPED_TRACE(name);
    const auto kernel = sample(name);
    ASSERT_NE(kernel, nullptr);
    expect_correct(*kernel, {coarsen("y", "4", "contiguous"), {"smem_halo", {}}});
    expect_correct(*kernel, {coarsen("x", "4", "grouped"), {"smem_halo", {}}});
  }
  // Rows of a constant length.
  expect_correct(*sample("fixed_width_blur"), {coarsen("y", "4"), {"smem_halo", {}}});
}

}  // namespace
}  // namespace regraph::test::convolution_steps_test
