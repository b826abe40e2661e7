// Sums that are scaled by a maximum, dealt out to the threads of a row.
#include "rewrite/step_checks.h"

namespace regraph::test::online_rows_test {
namespace {

const Application kFuse = {"online_fusion", {{"form", "online"}}};

Application shared(const char* threads, const char* rows) {
  return {"cross_thread_reduction", {{"threads_per_row", threads}, {"rows_per_block", rows}}};
}

Application by_vectors(const char* threads, const char* rows) {
  Application result = shared(threads, rows);
  result.parameters["width"] = "4";
  return result;
}

Application slices(const char* number) {
  return {"slice_reduction", {{"slices", number}}};
}

// A thread a row of x.
std::unique_ptr<KernelCase> rows_of(const std::string& body) {
  auto made = KernelCase::make(
      "__global__ void f(const float* x, float* y, int rows, int n, int last) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < rows) {\n" +
          body + "  }\n}",
      "sizes: {rows: 640, n: 2048}\nargs: {x: {dir: in, shape: [rows, n], init: normal}, "
      "y: {dir: inout, shape: [rows, 2]}, last: 3}\nlaunch: {block: 32, grid: 'cdiv(rows, bx)'}\n"
      "assume: {noalias: true, reassociate: true}\n"
      "tests: [{rows: 37, n: 9}, {rows: 9, n: 640}, {rows: 5, n: 1}]\n");
  EXPECT_TRUE(made.ok()) << made.error().message;
  return made.ok() ? std::move(*made) : nullptr;
}

TEST(OnlineRows, GoOverARowOnce) {
  for (const char* name : {"log_sum_exp", "masked_means", "softmax_rows"}) {
    SCOPED_TRACE(name);
    const auto kernel = sample(name);
    ASSERT_NE(kernel, nullptr);
    for (const Application& step : {shared("32", "4"), shared("256", "1")})
      expect_correct(*kernel, {kFuse, step});
  }
  const auto state = expect_correct(*sample("log_sum_exp"), {kFuse, shared("128", "1")});
  const std::string code = source::print(state.unit);
  expect_text(code, "m_own < m ? expf(m_own - m) : 1.0f");
  EXPECT_EQ(code.find("for (int c"), code.rfind("for (int c")) << code;
}

TEST(OnlineRows, ScaleOnceAVector) {
  const auto kernel = sample("log_sum_exp");
  ASSERT_NE(kernel, nullptr);
  for (const Application& step : {by_vectors("32", "4"), by_vectors("128", "1")}) {
    const std::string code = source::print(expect_correct(*kernel, {kFuse, step}).unit);
    expect_text(code, "if (m_of_vector > m) {");
    expect_text(code, "m = m_of_vector;");
  }
  expect_correct(*sample("softmax_rows"), {kFuse, by_vectors("64", "1")});
}

// Lanes may have seen nothing but minus infinity, and so may all of them.
TEST(OnlineRows, TakeThreadsThatSawNothing) {
  for (const char* score : {"c <= i - last ? x[i * n + c] : -INFINITY",
                            "c >= i ? x[i * n + c] : -INFINITY", "-INFINITY"}) {
    SCOPED_TRACE(score);
    const std::string loop =
        "    for (int c = 0; c < n; ++c) { float s = " + std::string(score) + "; ";
    std::string body = "    float m = -INFINITY;\n";
    body += loop + "m = fmaxf(m, s); }\n    float sum = 0.0f;\n";
    body += loop + "sum += expf(s - m); }\n    y[i * 2] = sum;\n    y[i * 2 + 1] = m;\n";
    const auto kernel = rows_of(body);
    ASSERT_NE(kernel, nullptr);
    for (const Application& step : {shared("32", "2"), shared("64", "1")})
      expect_correct(*kernel, {kFuse, step});
  }
}

TEST(OnlineRows, OfNeighboursAreAddedUpInSlices) {
  auto made = KernelCase::make(
      "__global__ void f(const float* x, float* y, int rows, int columns) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  float m = -INFINITY;\n"
      "  for (int r = 0; r < rows; ++r) m = fmaxf(m, x[r * columns + i]);\n  float sum = 0.0f;\n"
      "  for (int r = 0; r < rows; ++r) sum += expf(x[r * columns + i] - m);\n"
      "  y[i] = m + logf(sum);\n}",
      "sizes: {rows: 2048, columns: 640}\n"
      "args: {x: {dir: in, shape: [rows, columns], init: normal}, y: {dir: out, shape: "
      "[columns]}}\n"
      "launch: {block: 32, grid: 'columns / bx'}\n"
      "assume: {noalias: true, reassociate: true}\n"
      "tests: [{rows: 37, columns: 32}, {rows: 2, columns: 64}, {rows: 1, columns: 32}]\n");
  ASSERT_TRUE(made.ok()) << made.error().message;
  const auto state = expect_correct(**made, {kFuse, slices("8")});
  expect_text(source::print(state.unit), "? expf(m_of_slice[");
  expect_correct(**made, {kFuse, slices("32")});
}

constexpr const char* kByHand =
    "    for (int c = 0; c < n; ++c) {\n      const float v = x[i * n + c];\n"
    "      if (v > m) {\n        const float scale = expf(m - v);\n        sum *= scale;\n      }\n"
    "      m = fmaxf(m, v);\n      sum += expf(v - m)";

TEST(OnlineRows, KeepWhatSumsStartFrom) {
  const auto kernel =
      rows_of("    float m = 0.5f;\n    float sum = 3.0f + i;\n" + std::string(kByHand) +
              ";\n    }\n    y[i * 2] = m;\n    y[i * 2 + 1] = sum;\n");
  ASSERT_NE(kernel, nullptr);
  const auto state = expect_correct(*kernel, {shared("64", "1")});
  expect_text(source::print(state.unit), "if (0 < lane)");
  expect_correct(*kernel, {by_vectors("32", "2")});
}

TEST(OnlineRows, RefuseWithAReason) {
  expect_refusal(
      *rows_of("    float m = -1e30f;\n    float sum = 0.0f;\n    float count = 0.0f;\n" +
               std::string(kByHand) +
               " * count;\n      count += 1.0f;\n    }\n    y[i * 2] = sum + m;\n"),
      shared("32", "4"), "'count' is read before the loop is over");
  expect_refusal(
      *rows_of("    float m = -1e30f;\n    float sum = 0.0f;\n    float total = 0.0f;\n" +
               std::string(kByHand) +
               ";\n      total += expf(v - m);\n    }\n    y[i * 2] = sum + total;\n"),
      shared("32", "4"), "'total' is not scaled when 'm' grows");
  expect_refusal(*rows_of("    float m = -1e30f;\n    float sum[2] = {0.0f, 0.0f};\n"
                          "    for (int c = 0; c < n; ++c) {\n      const float v = x[i * n + c];\n"
                          "      if (v > m) {\n        const float scale = expf(m - v);\n"
                          "        for (int k = 0; k < 2; ++k) sum[k] *= scale;\n      }\n"
                          "      m = fmaxf(m, v);\n"
                          "      for (int k = 0; k < 2; ++k) sum[k] += expf(v - m) * k;\n"
                          "    }\n    y[i * 2] = sum[1];\n"),
                 shared("32", "4"), "which later iterations may read");
}

Application laid_out(const char* threads, const char* rows, const char* width) {
  return {"row_kernel",
          {{"threads", threads}, {"rows", rows}, {"width", width}, {"form", "online"}}};
}

TEST(RowKernel, GoesOverARowOnce) {
  auto made = KernelCase::make(R"~(
struct Max { __device__ static float combine(float a, float b) { return fmaxf(a, b); } };
struct Add { __device__ static float combine(float a, float b) { return a + b; } };

template <typename Operation>
__device__ float reduce_block(float value) {
  __shared__ float slots[64];
  slots[threadIdx.x] = value;
  __syncthreads();
  for (unsigned active = 32; active != 0; active /= 2) {
    if (threadIdx.x < active)
      slots[threadIdx.x] = Operation::combine(slots[threadIdx.x], slots[threadIdx.x + active]);
    __syncthreads();
  }
  return slots[0];
}

__global__ void log_sum(const float* x, float* y, int rows, int n) {
  const float* row = x + blockIdx.x * n;
  float peak = -INFINITY;
  for (int c = threadIdx.x; c < n; c += blockDim.x) peak = Max::combine(peak, row[c]);
  peak = reduce_block<Max>(peak);
  float sum = 0.0f;
  for (int c = threadIdx.x; c < n; c += blockDim.x) sum = Add::combine(sum, expf(row[c] - peak));
  sum = reduce_block<Add>(sum);
  if (threadIdx.x == 0) y[blockIdx.x] = logf(sum) + peak;
})~",
                               "sizes: {rows: 640, n: 4096}\n"
                               "args: {x: {dir: in, shape: [rows, n], init: normal}, "
                               "y: {dir: out, shape: [rows]}}\nlaunch: {block: 64, grid: rows}\n"
                               "assume: {noalias: true, reassociate: true}\n"
                               "tests: [{rows: 37, n: 9}, {rows: 9, n: 640}, {rows: 5, n: 1}]\n");
  ASSERT_TRUE(made.ok()) << made.error().message;
  for (const Application& step :
       {laid_out("32", "4", "4"), laid_out("256", "1", "4"), laid_out("256", "1", "1")}) {
    const std::string code = source::print(expect_correct(**made, {step}).unit);
    expect_text(code, "peak_own < peak ? expf(peak_own - peak) : 1.0f");
  }
  expect_correct(*sample("block_softmax"), {laid_out("128", "1", "4")});
  const auto other = sample("row_sums");
  expect_refusal(*other, laid_out("128", "1", "4"), "decides more than its part of a loop");
}

}  // namespace
}  // namespace regraph::test::online_rows_test
