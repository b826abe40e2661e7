// Steps for element-wise kernels, atomics and long loops.
#include "rewrite/step_checks.h"

namespace regraph::test::streaming_steps_test {
namespace {

Result<std::unique_ptr<KernelCase>> saxpy(const std::string& assume) {
  return KernelCase::make(
      "__global__ void f(const float* a, float* b, int n, int m) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n"
      "  float s = 0.0f;\n  for (int k = 0; k < m; ++k) s += expf(a[k]) / (i + 1);\n  b[i] = s;\n}",
      "sizes: {n: 64, m: 16}\nargs: {a: {dir: in, shape: [m]}, b: {dir: out, shape: [n]}}\n"
      "launch: {block: 64, grid: 'cdiv(n, bx)'}\nassume: " +
          assume + "\n");
}

TEST(AtomicPrivatize, CollectsUpdatesInTheBlock) {
  for (const char* name : {"histogram_global", "histogram_variable_bins"}) {
    SCOPED_TRACE(name);
    const auto kernel = sample(name);
    ASSERT_NE(kernel, nullptr);
    expect_correct(*kernel, {{"atomic_privatize", {{"rounds", "1"}, {"copies", "1"}}}});
    expect_correct(*kernel, {{"grid_stride", {{"rounds", "16"}}},
                             {"atomic_privatize", {{"rounds", "1"}, {"copies", "2"}}}});
    expect_correct(*kernel, {{"thread_coarsen", {{"axis", "x"}, {"factor", "4"}}},
                             {"atomic_privatize", {{"rounds", "1"}, {"copies", "4"}}}});
  }
}

TEST(AtomicPrivatize, SeesTheFirstElementBehindABarePointer) {
  const auto kernel = sample("chunks_until_either_end");
  ASSERT_NE(kernel, nullptr);
  const auto state =
      expect_correct(*kernel, {{"atomic_privatize", {{"rounds", "1"}, {"copies", "1"}}}});
  EXPECT_NE(source::print(state.unit).find("&result_of_block[0]"), std::string::npos);
}

TEST(AtomicPrivatize, BringsRoundsAlong) {
  const auto kernel = sample("histogram_global");
  const auto state =
      expect_correct(*kernel, {{"vectorize_global", {{"width", "4"}}},
                               {"atomic_privatize", {{"rounds", "64"}, {"copies", "2"}}}});
  EXPECT_EQ(state.plan.launches[0].grid[0].text(), "cdiv(n, 256 * bx)");
}

TEST(AtomicPrivatize, BringsVectorsAlongAndAddsCopiesUp) {
  const auto kernel = sample("histogram_global");
  const auto state =
      expect_correct(*kernel, {{"atomic_privatize", {{"rounds", "64"}, {"copies", "4"}}}});
  EXPECT_EQ(state.plan.launches[0].grid[0].text(), "cdiv(n, 256 * bx)");
  const std::string text = source::print(state.unit);
  EXPECT_NE(text.find("uchar4"), std::string::npos);
  // One atomic a bin and block, whatever the copies.
  EXPECT_EQ(text.find("atomicAdd(&bins["), text.rfind("atomicAdd(&bins["));
}

TEST(AtomicPrivatize, TakesALoopOverTheGridApart) {
  const auto kernel = sample("histogram_of_the_grid");
  const auto state =
      expect_correct(*kernel, {{"atomic_privatize", {{"rounds", "64"}, {"copies", "2"}}}});
  EXPECT_NE(source::print(state.unit).find("uchar4"), std::string::npos);
}

TEST(AtomicPrivatize, UsesDynamicSharedMemoryForALengthOfTheProblem) {
  const auto kernel = sample("histogram_variable_bins");
  const auto state =
      expect_correct(*kernel, {{"atomic_privatize", {{"rounds", "1"}, {"copies", "2"}}}});
  EXPECT_EQ(state.plan.launches[0].dynamic_shared_bytes.text(), "8 * count");
  EXPECT_NE(source::print(state.unit).find("-2147483647 - 1"), std::string::npos);
}

// How many bins there are only the host knows: it launches with as much shared memory.
TEST(AtomicPrivatize, AsksForALengthThatTheKernelIsNotTold) {
  auto scatter = KernelCase::make(
      "__global__ void scatter(const float* x, const int* index, float* out, int rows, int "
      "columns) "
      "{\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i >= rows * columns) return;\n"
      "  atomicAdd(&out[index[i / columns] * columns + i % columns], x[i]);\n}\n",
      "sizes: {rows: 300, columns: 8, bins: 40}\n"
      "args: {x: {dir: in, shape: [rows, columns]}, index: {dir: in, shape: [rows], init: 'int(0, "
      "bins-1)'}, out: {dir: inout, shape: [bins, columns]}}\n"
      "launch: {block: 128, grid: 'cdiv(rows*columns, bx)'}\n"
      "tests: [{rows: 77, columns: 5, bins: 7}, {rows: 256, columns: 8, bins: 16}]\n");
  ASSERT_TRUE(scatter.ok()) << scatter.error().message;
  for (const char* copies : {"1", "2"}) {
    const auto state =
        expect_correct(**scatter, {{"atomic_privatize", {{"rounds", "1"}, {"copies", copies}}}});
    EXPECT_NE(source::print(state.unit).find("%dynamic_smem_size"), std::string::npos);
  }
}

TEST(AtomicPrivatize, IsDoneOnce) {
  const auto kernel = sample("histogram_global");
  const Application once = {"atomic_privatize", {{"rounds", "1"}, {"copies", "2"}}};
  const auto state =
      expect_correct(*kernel, {{"atomic_privatize", {{"rounds", "64"}, {"copies", "2"}}}});
  expect_refusal(*kernel, state, once, "already");
}

TEST(AtomicPrivatize, RefusesWithAReason) {
  expect_refusal(*sample("saxpy_return"), {"atomic_privatize", {{"rounds", "1"}, {"copies", "1"}}},
                 "no array");
  auto mixed = KernelCase::make(
      "__global__ void f(const int* a, int* b, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) { atomicAdd(&b[a[i]], 1); if (a[i] == 5) atomicMax(&b[1], i); }\n}",
      "sizes: {n: 100}\nargs: {a: {dir: in, shape: [n], init: 'int(0,7)'},\n"
      "  b: {dir: inout, shape: [8], init: 'int(0,3)'}}\nlaunch: {block: 64, grid: 'cdiv(n, "
      "bx)'}\n");
  ASSERT_TRUE(mixed.ok()) << mixed.error().message;
  expect_refusal(**mixed, {"atomic_privatize", {{"rounds", "1"}, {"copies", "1"}}},
                 "more than one kind");
  auto large = KernelCase::make(
      "__global__ void f(const int* a, int* b, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) atomicAdd(&b[a[i]], 1);\n}",
      "sizes: {n: 100}\nargs: {a: {dir: in, shape: [n], init: 'int(0,7)'},\n"
      "  b: {dir: inout, shape: [20000], init: 'int(0,3)'}}\n"
      "launch: {block: 64, grid: 'cdiv(n, bx)'}\n");
  ASSERT_TRUE(large.ok()) << large.error().message;
  expect_refusal(**large, {"atomic_privatize", {{"rounds", "1"}, {"copies", "1"}}}, "80000 bytes");
}

TEST(GridStride, KeepsEveryBlocksWork) {
  for (const char* name : {"axpy_in_place", "histogram_global"}) {
    const auto kernel = sample(name);
    expect_correct(*kernel, {{"grid_stride", {{"rounds", "4"}}}});
    const auto state = expect_correct(*kernel, {{"grid_stride", {{"rounds", "64"}}}});
    EXPECT_EQ(state.plan.launches[0].grid[0].text(), "cdiv(n, 64 * bx)");
    expect_refusal(*kernel, state, {"grid_stride", {{"rounds", "4"}}}, "gridDim.x");
  }
  expect_refusal(*sample("row_sums"), {"grid_stride", {{"rounds", "4"}}}, "too small");
}

TEST(VectorizeGlobal, MovesSeveralElementsAtOnce) {
  for (const char* name : {"saxpy_return", "axpy_in_place", "gelu_rows", "histogram_global",
                           "three_point_stencil", "five_point_stencil", "padded_jacobi"}) {
    SCOPED_TRACE(name);
    const auto kernel = sample(name);
    ASSERT_NE(kernel, nullptr);
    expect_correct(*kernel, {{"vectorize_global", {{"width", "2"}}}});
  }
  for (const char* name : {"saxpy_return", "gelu_rows", "histogram_global"}) {
    SCOPED_TRACE(name);
    const auto kernel = sample(name);
    expect_correct(*kernel, {{"vectorize_global", {{"width", "4"}}}});
    expect_correct(*kernel, {{"vectorize_global", {{"width", "4"}}},
                             {"thread_coarsen", {{"axis", "x"}, {"factor", "2"}}}});
  }
}

TEST(VectorizeGlobal, ChecksWhatTheWidthMustDivide) {
  const auto kernel = sample("gelu_rows");
  const auto state = expect_correct(*kernel, {{"vectorize_global", {{"width", "4"}}}});
  const std::string text = source::print(state.unit);
  EXPECT_NE(text.find("cols % 4 == 0"), std::string::npos) << text;
  EXPECT_NE(text.find("float4 b_vector"), std::string::npos) << text;
}

TEST(VectorizeGlobal, RefusesWithAReason) {
  const Application step = {"vectorize_global", {{"width", "4"}}};
  expect_refusal(*sample("axpy_in_place"), step, "one access moves 4");
  expect_refusal(*sample("window_sum"), step, "more than one guarded block");
  expect_refusal(*sample("sum_sequential_tree"), step, "work together");
  auto sparse = KernelCase::make(
      "__global__ void f(float* b, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) { float v = 0.5f * i; if (v > 9.0f) b[i] = v; }\n}",
      "sizes: {n: 100}\nargs: {b: {dir: inout, shape: [n]}}\n"
      "launch: {block: 64, grid: 'cdiv(n, bx)'}\n");
  ASSERT_TRUE(sparse.ok()) << sparse.error().message;
  expect_refusal(**sparse, step, "written where");
  auto aligned = KernelCase::make(
      "__global__ void f(const float* a, float* b, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) b[i] = a[i];\n}",
      "sizes: {n: 100}\nargs: {a: {dir: in, shape: [n]}, b: {dir: out, shape: [n]}}\n"
      "launch: {block: 64, grid: 'cdiv(n, bx)'}\nassume: {align: 4}\n");
  ASSERT_TRUE(aligned.ok()) << aligned.error().message;
  expect_refusal(**aligned, step, "grants only 4 bytes");
}

TEST(MultiAccumulator, SplitsSumsAndMaxima) {
  for (const char* name : {"row_sums", "all_pairs", "softmax_rows", "row_statistics",
                           "matmul_guard", "max_plus_product", "window_sum"}) {
    SCOPED_TRACE(name);
    const auto kernel = sample(name);
    ASSERT_NE(kernel, nullptr);
    expect_correct(*kernel, {{"multi_accumulator", {{"loop", "1"}, {"accumulators", "4"}}}});
  }
  const auto softmax = sample("softmax_rows");
  expect_correct(*softmax, {{"multi_accumulator", {{"loop", "2"}, {"accumulators", "2"}}},
                            {"multi_accumulator", {{"loop", "1"}, {"accumulators", "8"}}},
                            {"loop_unroll", {{"loop", "all"}, {"factor", "4"}}}});
  expect_correct(*softmax,
                 {{"cross_thread_reduction", {{"threads_per_row", "64"}, {"rows_per_block", "1"}}},
                  {"multi_accumulator", {{"loop", "2"}, {"accumulators", "2"}}}});
}

// Sizes of 64 bits, as PyTorch passes them: counters and ends keep the types that they are compared
// in.
TEST(MultiAccumulator, SplitsLoopsWithBoundsOfOtherTypes) {
  for (const char* loop :
       {"for (int k = 0; k < length; ++k)", "for (long long k = 3; k < length; ++k)",
        "for (size_t k = 0; k < (size_t)length; ++k)", "for (int k = 0; k < (unsigned)length; ++k)",
        "for (unsigned k = 0; k < (unsigned)length; ++k)", "for (int k = i; k < length; k += 2)",
        "for (int k = 0; k < length - 20; ++k)"}) {
    SCOPED_TRACE(loop);
    const auto kernel = KernelCase::make(
        std::string("__global__ void f(const float* a, float* b, int n, long long length) {\n"
                    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) {\n"
                    "    float sum = 0.0f;\n    ") +
            loop + " sum += a[k];\n    b[i] = sum;\n  }\n}",
        "sizes: {n: 60, length: 50}\nargs:\n  a: {dir: in, shape: [length]}\n"
        "  b: {dir: out, shape: [n]}\nlaunch: {block: 32, grid: 'cdiv(n, bx)'}\n"
        "tests: [{n: 60, length: 50}, {n: 37, length: 1}, {n: 9, length: 33}]\n"
        "assume: {noalias: true, reassociate: true}\n");
    ASSERT_TRUE(kernel.ok()) << kernel.error().message;
    expect_correct(**kernel, {{"multi_accumulator", {{"accumulators", "4"}, {"loop", "1"}}}});
  }
}

TEST(MultiAccumulator, RefusesWithAReason) {
  const Application step = {"multi_accumulator", {{"loop", "1"}, {"accumulators", "4"}}};
  expect_refusal(*sample("saxpy_return"), step, "no innermost counted loop");
  expect_refusal(*sample("power_iterations"), step, "carries a value");
  expect_refusal(*sample("row_sums"), {"multi_accumulator", {{"loop", "2"}, {"accumulators", "4"}}},
                 "only 1 reducing loops");
  auto exact = saxpy("{reassociate: false}");
  ASSERT_TRUE(exact.ok()) << exact.error().message;
  expect_refusal(**exact, step, "reassociate");
}

// An accumulator that another one reads is no accumulator of this loop.
TEST(MultiAccumulator, RefusesWhatAnotherAccumulatorReads) {
  const auto kernel = [](const std::string& loop) {
    return KernelCase::make(
        "__global__ void series(const float* x, const float* c, float* y, int n, int terms) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "  if (i >= n) return;\n"
        "  float sum = 0.0f;\n"
        "  float power = 1.0f;\n"
        "  for (int k = 0; k < terms; ++k) {\n" +
            loop +
            "  }\n"
            "  y[i] = sum + power;\n"
            "}\n",
        "kernel: series\n"
        "sizes: {n: 100, terms: 9}\n"
        "args:\n"
        "  x: {dir: in, shape: [n]}\n"
        "  c: {dir: in, shape: [terms]}\n"
        "  y: {dir: out, shape: [n]}\n"
        "launch: {block: [128, 1, 1], grid: [\"cdiv(n, bx)\", 1, 1]}\n");
  };
  const Application split = {"multi_accumulator", {{"loop", "1"}, {"accumulators", "2"}}};
  for (const char* loop :
       {"    sum += power * c[k];\n    power *= x[i];\n",
        "    sum = fmaf(c[k], power, sum);\n    power = x[i] * power;\n",
        "    if (c[k] > power) power = c[k];\n    sum = sum + power;\n",
        "    power = fmaxf(power, c[k]);\n    if (power > sum) sum = power;\n"}) {
    SCOPED_TRACE(loop);
    auto made = kernel(loop);
    ASSERT_TRUE(made.ok()) << made.error().message;
    expect_refusal(**made, split, "'power' is read before the loop is over");
  }
  auto apart = kernel("    sum += c[k];\n    power = fmaxf(power, c[k]);\n");
  ASSERT_TRUE(apart.ok()) << apart.error().message;
  expect_correct(**apart, {split});
}

TEST(FastMath, ReplacesWhatWasAskedFor) {
  const auto softmax = sample("softmax_rows");
  const auto state = expect_correct(*softmax, {{"fast_math", {{"functions", "all"}}}});
  const std::string text = source::print(state.unit);
  EXPECT_NE(text.find("__fdividef(__expf("), std::string::npos) << text;
  const auto norm = sample("layernorm_pointers");
  const auto root = expect_correct(*norm, {{"fast_math", {{"functions", "sqrt"}}}});
  EXPECT_NE(source::print(root.unit).find("rsqrtf("), std::string::npos);
  const auto divided = expect_correct(*norm, {{"fast_math", {{"functions", "divide"}}}});
  EXPECT_NE(source::print(divided.unit).find("mean = __fdividef(mean, cols)"), std::string::npos);
}

TEST(FastMath, RefusesWithoutPermissionOrWork) {
  auto precise = saxpy("{fast_math: false}");
  ASSERT_TRUE(precise.ok()) << precise.error().message;
  expect_refusal(**precise, {"fast_math", {{"functions", "all"}}}, "fast_math: true");
  expect_refusal(*sample("all_pairs"), {"fast_math", {{"functions", "divide"}}},
                 "no single-precision division");
}

}  // namespace
}  // namespace regraph::test::streaming_steps_test
