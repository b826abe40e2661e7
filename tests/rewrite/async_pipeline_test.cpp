// Tiles that are copied asynchronously, several strips ahead.
#include "rewrite/step_checks.h"

namespace regraph::test::async_pipeline_test {
namespace {

Result<std::unique_ptr<KernelCase>> kernel_of(const std::string& copy, const std::string& use = {},
                                              const std::string& header = {},
                                              const std::string& type = "float",
                                              const DeviceLimits& limits = sm_90_limits()) {
  return KernelCase::make(
      "__global__ void f(const " + type + "* a, const int* c, float* b, int n) {\n  __shared__ " +
          type + " tile[64];\n  int t = threadIdx.x;\n  float sum = 0.0f;\n  " +
          (header.empty() ? "for (int k = 0; k < n; k += 32)" : header) + " {\n    " + copy +
          "\n    __syncthreads();\n    " +
          (use.empty() ? "for (int i = 0; i < 32; ++i) sum += tile[i];" : use) +
          "\n    __syncthreads();\n  }\n  b[t] = sum;\n}",
      "sizes: {n: 256}\nargs: {a: {dir: in, shape: [512]}, c: {dir: in, shape: [512], init: "
      "'constant(3)'}, b: {dir: inout, shape: [32]}}\nlaunch: {block: 32, grid: 1}\n"
      "tests: [{n: 250}, {n: 64}, {n: 32}, {n: 1}]\n",
      limits);
}

Application stages(const char* count) {
  return {"async_pipeline", {{"stages", count}}};
}

std::string expect_pipeline(const std::string& copy, const std::string& use = {},
                            const std::string& header = {}, const std::string& type = "float") {
  auto kernel = kernel_of(copy, use, header, type);
  EXPECT_TRUE(kernel.ok()) << kernel.error().message;
  if (!kernel) return "";
  for (const char* count : {"2", "3"})
    expect_correct(**kernel, {stages(count)});
  return source::print(expect_correct(**kernel, {stages("4")}).unit);
}

void expect_none(const std::string& copy, const std::string& reason) {
  auto kernel = kernel_of(copy);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_refusal(**kernel, stages("3"), reason);
}

TEST(AsyncPipeline, CopiesElements) {
  const std::string text = expect_pipeline("tile[t] = k + t < n ? a[k + t] : 0.0f;");
  EXPECT_EQ(text.find("#include <cuda_pipeline.h>"), 0U) << text;
  EXPECT_NE(text.find("__pipeline_wait_prior(2)"), std::string::npos) << text;
  expect_pipeline("tile[t] = a[k + t];");
  expect_pipeline("if (k + t < n) tile[t] = a[k + t]; else tile[t] = 0.0f;");
  expect_pipeline("if (t < 16) tile[t] = a[k + t];",
                  "for (int i = 0; i < 16; ++i) sum += tile[i];");
  expect_pipeline("for (int u = 0; u < 2; ++u) tile[t + 32 * u] = a[k + t + 32 * u];",
                  "for (int i = 0; i < 64; ++i) sum += tile[i];");
  expect_pipeline("tile[t] = a[k + t];", "sum += (float)tile[31 - t];", "", "double");
  expect_pipeline("tile[t] = a[k + t];", "sum += tile[31 - t];",
                  "for (int round = 0; round < 3; ++round) for (int k = 0; k < n; k += 32)");
}

// Whatever loops and conditions they stand in.
TEST(AsyncPipeline, CopiesWhereThreadsHaveDifferentNumbersOfElements) {
  const std::string text = expect_pipeline(
      "for (int i = t; i < 40; i += 32) {\n      if (i < 32) tile[i] = k + i < n ? a[k + i] : "
      "0.0f;\n    }");
  expect_text(text, "for (int i = t; i < 40; i += 32)");
  expect_text(text, "__pipeline_memcpy_async");
}

TEST(AsyncPipeline, CopiesNothingElse) {
  expect_none("tile[t] = a[k + t] * 2.0f;", "stores something else than an element");
  expect_none("tile[t] = k + t < n ? a[k + t] : 1.0f;", "stores something else");
  expect_none("tile[t] = c[k + t];", "stores something else");
  expect_none("tile[t] = t;", "stores something else");
  auto old = kernel_of("tile[t] = a[k + t];", "", "", "float", [] {
    DeviceLimits limits = sm_90_limits();
    limits.architecture = "sm_75";
    return limits;
  }());
  if (old.ok()) expect_refusal(**old, stages("2"), "no asynchronous copies");
  auto small = kernel_of("tile[t] = (char)a[k + t] > 1 ? 1 : 0;", "", "", "char");
  ASSERT_TRUE(small.ok()) << small.error().message;
  expect_refusal(**small, stages("2"), "stores something else");
}

// Tiles that lie as in memory take both operands by 16 bytes.
TEST(AsyncPipeline, CopiesVectorsToTilesThatKeepTheirLayout) {
  const auto kernel = sample("matmul_guard");
  ASSERT_NE(kernel, nullptr);
  const auto state = expect_correct(
      *kernel, {{"smem_tile", {{"loop", "1"}, {"depth", "16"}, {"copy", "kept"}}}, stages("3")});
  const std::string text = source::print(state.unit);
  EXPECT_EQ(text.find("_values"), std::string::npos) << text;
  int wide = 0;
  for (std::size_t at = text.find(", 16);"); at != std::string::npos;
       at = text.find(", 16);", at + 1))
    ++wide;
  EXPECT_EQ(wide, 4) << text;
  EXPECT_EQ(text.find(", 4);"), std::string::npos) << text;
}

TEST(AsyncPipeline, CopiesVectors) {
  const auto kernel = sample("matmul_guard");
  ASSERT_NE(kernel, nullptr);
  for (const char* outputs : {"8x8", "4x4"}) {
    const auto state = expect_correct(
        *kernel, {{"contraction",
                   {{"block", "16x8"}, {"outputs", outputs}, {"depth", "8"}, {"stages", "3"}}}});
    const std::string text = source::print(state.unit);
    EXPECT_NE(text.find("__pipeline_memcpy_async"), std::string::npos);
    // The operand that keeps its order, 16 bytes at a time.
    EXPECT_NE(text.find(", 16)"), std::string::npos) << text;
    EXPECT_EQ(text.find("_values"), std::string::npos) << text;
  }
  expect_correct(*kernel, {{"contraction",
                            {{"block", "16x8"},
                             {"outputs", "4x4"},
                             {"depth", "8"},
                             {"slices", "2"},
                             {"stages", "4"}}}});
}

// 16 KiB a tile, and one of another type beside it.
Result<std::unique_ptr<KernelCase>> large_tiles(const std::string& use = "sum += tile[t][i];",
                                                const std::string& before = {},
                                                std::int64_t opt_in = 0) {
  DeviceLimits limits = sm_90_limits();
  if (opt_in > 0) limits.shared_bytes_per_block_opt_in = opt_in;
  return KernelCase::make(
      "__global__ void f(const float* a, const double* c, float* b, int n) {\n" + before +
          "  __shared__ float tile[32][128];\n  __shared__ double other[2][17];\n"
          "  int t = threadIdx.x;\n  float sum = 0.0f;\n"
          "  for (int k = 0; k < n; k += 32) {\n"
          "    for (int u = 0; u < 128; ++u) tile[u / 4][u % 4 * 32 + t] = a[k + u + t];\n"
          "    if (t < 17) other[1][t] = c[k + t];\n"
          "    __syncthreads();\n    for (int i = 0; i < 128; ++i) {\n" +
          use +
          "\n    }\n    sum += (float)other[1][t / 2];\n    __syncthreads();\n  }\n  b[t] = "
          "sum;\n}",
      "sizes: {n: 256}\nargs: {a: {dir: in, shape: [512]}, c: {dir: in, shape: [512]}, b: {dir: "
      "inout, shape: [32]}}\nlaunch: {block: 32, grid: 1}\ntests: [{n: 250}, {n: 64}, {n: 1}]\n",
      limits);
}

TEST(AsyncPipeline, PutsTilesIntoDynamicMemoryWhereStaticDoesNotSuffice) {
  auto kernel = large_tiles();
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const auto fits = expect_correct(**kernel, {stages("2")});
  EXPECT_EQ(fits.plan.launches.front().dynamic_shared_bytes.text(), "0");
  EXPECT_NE(source::print(fits.unit).find("tile[2][32][128]"), std::string::npos);
  const auto asks = expect_correct(**kernel, {stages("3")});
  // Whole pieces of 16 bytes each.
  EXPECT_EQ(asks.plan.launches.front().dynamic_shared_bytes.text(),
            std::to_string(3 * 16384 + 816));
  const std::string text = source::print(asks.unit);
  EXPECT_NE(text.find("extern __shared__ __align__(16) float tile[];"), std::string::npos) << text;
  EXPECT_NE(text.find("extern __shared__ __align__(16) double other[];"), std::string::npos);
  // Behind the other tile.
  EXPECT_NE(text.find("tile[" + std::to_string(816 / 4) + " + "), std::string::npos) << text;
  expect_refusal(**kernel, stages("16"), "a block has 232448 at most");
}

// What was written can be read again.
TEST(AsyncPipeline, LeavesDynamicTilesThatCanBeRead) {
  auto kernel = large_tiles();
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const auto state = (*kernel)->apply((*kernel)->original(), "async_pipeline", {{"stages", "3"}});
  ASSERT_TRUE(state.ok()) << state.error().message;
  auto again = KernelCase::make(
      source::print(state->unit),
      "sizes: {n: 256}\nargs: {a: {dir: in, shape: [512]}, c: {dir: in, shape: [512]}, b: {dir: "
      "inout, shape: [32]}}\nlaunch: {block: 32, grid: 1, smem: 49968}\ntests: [{n: 250}]\n");
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_TRUE((*again)->round_trips());
  EXPECT_EQ((*again)->verdict((*again)->original()), "correct");
}

TEST(AsyncPipeline, KeepsTilesStaticThatHaveToStay) {
  // Read as another type.
  auto viewed = large_tiles("const float4 v = *(const float4*)&tile[t][0]; sum += v.x;");
  ASSERT_TRUE(viewed.ok()) << viewed.error().message;
  expect_refusal(**viewed, stages("3"), "a block may declare");
  auto none = large_tiles("sum += tile[t][i];", "", 48 << 10);
  ASSERT_TRUE(none.ok()) << none.error().message;
  expect_refusal(**none, stages("3"), "a block may declare");
  auto taken = large_tiles("sum += tile[t][i];",
                           "  extern __shared__ float mine[];\n  if (n < 0) mine[0] = 1.0f;\n");
  ASSERT_TRUE(taken.ok()) << taken.error().message;
  expect_refusal(**taken, stages("3"), "a block may declare");
}

TEST(AsyncPipeline, RefusesWhatDoubleBufferDoes) {
  expect_refusal(*sample("matmul_guard"), stages("3"), "no shared tiles");
  expect_refusal(*sample("sum_sequential_tree"), stages("3"), "not a counted loop");
}

}  // namespace
}  // namespace regraph::test::async_pipeline_test
