// Tiles that are copied asynchronously, several strips ahead.
#include "rewrite/step_checks.h"

namespace regraph::test {
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

TEST(AsyncPipeline, RefusesWhatDoubleBufferDoes) {
  expect_refusal(*sample("matmul_guard"), stages("3"), "no shared tiles");
  expect_refusal(*sample("sum_sequential_tree"), stages("3"), "not a counted loop");
}

}  // namespace
}  // namespace regraph::test
