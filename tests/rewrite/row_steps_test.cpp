// Steps for kernels with one thread a row.
#include "rewrite/step_checks.h"

namespace regraph::test::row_steps_test {
namespace {

Application shared(const char* threads, const char* rows) {
  return {"cross_thread_reduction", {{"threads_per_row", threads}, {"rows_per_block", rows}}};
}

Application slices(const char* number) {
  return {"slice_reduction", {{"slices", number}}};
}

TEST(CrossThreadReduction, SharesRowsAmongWarpsAndBlocks) {
  for (const char* name : {"softmax_rows", "layernorm_pointers", "softmax_in_place",
                           "row_statistics", "nearest_centre", "row_sums"}) {
    SCOPED_TRACE(name);
    const auto kernel = sample(name);
    ASSERT_NE(kernel, nullptr);
    expect_correct(*kernel, {shared("32", "4")});
    const auto state = expect_correct(*kernel, {shared("128", "1")});
    EXPECT_EQ(state.plan.launches[0].block, (Dim3{128, 1, 1}));
  }
}

TEST(CrossThreadReduction, HasABlockForEveryRow) {
  const auto kernel = sample("softmax_rows");
  const auto state = expect_correct(*kernel, {shared("256", "1")});
  EXPECT_EQ(state.plan.launches[0].grid[0].text(), "rows");
  const std::string text = source::print(state.unit);
  EXPECT_NE(text.find("for (int c = lane; c < cols; c += 256)"), std::string::npos) << text;
}

// Lanes that have no element of a row reach the shuffles before the others, which ask first whether
// there is a row.
TEST(CrossThreadReduction, LanesWithFewElementsWaitForTheOthers) {
  const auto kernel = sample("softmax_rows");
  ASSERT_NE(kernel, nullptr);
  Application by_vectors = shared("64", "1");
  by_vectors.parameters["width"] = "4";
  expect_correct(*kernel, {{"multi_accumulator", {{"accumulators", "8"}, {"loop", "1"}}},
                           by_vectors,
                           {"thread_coarsen", {{"axis", "x"}, {"factor", "4"}}}});
}

// Rows of a few elements are parts of warps: the lanes of each exchange values among themselves,
// also where other rows of the warp are none, or end elsewhere.
TEST(CrossThreadReduction, ShortRowsShareAWarp) {
  const auto short_rows = [](const std::string& loops, const std::string& elements = "64 * rows") {
    return KernelCase::make(
        "__global__ void f(const float* x, const int* starts, float* y, int rows, int count) {\n"
        "  int r = blockIdx.x * blockDim.x + threadIdx.x;\n  if (r >= rows) return;\n" +
            loops + "}",
        "sizes: {rows: 512, count: 4000}\nargs: {x: {dir: in, shape: [" + elements +
            "]}, starts: {dir: in, shape: [rows + 1], init: csr_offsets(count)},\n"
            "  y: {dir: inout, shape: [rows, 64]}}\nlaunch: {block: 64, grid: 'cdiv(rows, bx)'}\n"
            "tests: [{rows: 70, count: 300}, {rows: 9, count: 500}, {rows: 1, count: 3}, {rows: "
            "16, count: 90}]\n");
  };
  const auto scaled = short_rows(
      "  float most = 1e-10f;\n  for (int i = 0; i < 64; ++i) most = fmaxf(most, fabsf(x[r * 64 "
      "+ i]));\n"
      "  y[r * 64] = most;\n  if (most > 0.5f) {\n    float sum = 0.0f;\n"
      "    for (int i = 0; i < 64; ++i) sum += x[r * 64 + i];\n    y[r * 64 + 1] = sum / "
      "most;\n  }\n");
  ASSERT_TRUE(scaled.ok()) << scaled.error().message;
  const auto state = expect_correct(**scaled, {shared("8", "16")});
  EXPECT_EQ(state.plan.launches[0].block, (Dim3{128, 1, 1}));
  expect_text(source::print(state.unit), "row_lanes = 0xffu << threadIdx.x % 32 / 8 * 8");
  expect_correct(**scaled, {shared("16", "2")});
  expect_correct(**scaled, {shared("4", "8")});
  const auto sparse = short_rows(
      "  float sum = 0.0f;\n  for (int i = starts[r]; i < starts[r + 1]; ++i) sum += x[i];\n  y[r] "
      "= sum;\n",
      "count");
  ASSERT_TRUE(sparse.ok()) << sparse.error().message;
  expect_correct(**sparse, {shared("8", "16")});

  const auto odd = (**scaled).apply((**scaled).original(), "cross_thread_reduction",
                                    shared("8", "2").parameters);
  ASSERT_FALSE(odd.ok());
  expect_text(odd.error().message, "as many 'rows_per_block' as fill warps");
  const auto chosen = short_rows(
      "  float best = x[r * 64];\n  int at = 0;\n  for (int i = 1; i < 64; ++i) {\n"
      "    if (x[r * 64 + i] > best) {\n      best = x[r * 64 + i];\n      at = i;\n    }\n  }\n "
      " y[r] = at;\n");
  ASSERT_TRUE(chosen.ok()) << chosen.error().message;
  expect_refusal(**chosen, shared("8", "16"), "that is done by whole warps");
  const auto long_rows = sample("softmax_rows");
  ASSERT_NE(long_rows, nullptr);
  expect_refusal(*long_rows, shared("8", "16"), "enough for a whole warp");
}

TEST(CrossThreadReduction, KeepsWhatASumStartsFrom) {
  const auto kernel = sample("row_statistics");
  const auto state = expect_correct(*kernel, {shared("32", "2")});
  const std::string text = source::print(state.unit);
  EXPECT_NE(text.find("sum += sum_part"), std::string::npos) << text;
  EXPECT_NE(text.find("if (lane == 0)"), std::string::npos) << text;
}

TEST(CrossThreadReduction, ChoosesAsTheLoopWould) {
  for (const char* name : {"first_maximum", "last_minimum", "best_products"}) {
    SCOPED_TRACE(name);
    const auto kernel = sample(name);
    ASSERT_NE(kernel, nullptr);
    expect_correct(*kernel, {shared("32", "4")});
    expect_correct(*kernel, {shared("128", "1")});
    expect_correct(*kernel, {slices("8")});
  }
  // Where the position itself says which of two came first, nothing else is carried.
  const auto first = sample("first_maximum");
  Application by_vectors = shared("128", "1");
  by_vectors.parameters["width"] = "4";
  const auto state = expect_correct(*first, {by_vectors});
  EXPECT_EQ(source::print(state.unit).find("taken"), std::string::npos);
}

TEST(CrossThreadReduction, RefusesWhatDependsOnHowTheBestWasFound) {
  const auto of = [](const std::string& update) {
    auto made = KernelCase::make(
        "__global__ void f(const float* x, int* place, int n, int m) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n"
        "  float best = 0.0f;\n  int position = 0;\n  int count = 0;\n"
        "  for (int k = 0; k < m; ++k) {\n    float v = x[i * m + k];\n" +
            update + "  }\n  place[i] = position + count + (int)best;\n}",
        "sizes: {n: 64, m: 64}\n"
        "args: {x: {dir: in, shape: [n, m]}, place: {dir: out, shape: [n]}}\n"
        "launch: {block: 64, grid: 'cdiv(n, bx)'}\n");
    EXPECT_TRUE(made.ok()) << made.error().message;
    return made.ok() ? std::move(*made) : nullptr;
  };
  // How often the best was beaten, by name and by what was there before; a position that follows
  // the last one; a comparison with something else; one in another type.
  expect_refusal(*of("    bool better = v > best;\n    best = better ? v : best;\n"
                     "    position = better ? k : position;\n    count += better;\n"),
                 shared("32", "1"), "'better' is read before the loop is over");
  expect_refusal(*of("    if (v > best) { best = v; position = k; }\n"
                     "    count += position;\n"),
                 shared("32", "1"), "'position' is read before the loop is over");
  expect_refusal(*of("    if (v > best) { best = v; position = position + k; }\n"),
                 shared("32", "1"), "carries a value");
  expect_refusal(*of("    if (v > best) { best = v + 1.0f; position = k; }\n"), shared("32", "1"),
                 "carries a value");
  expect_refusal(*of("    if (v * 0.1 > best) { best = v * 0.1; position = k; }\n"),
                 shared("32", "1"), "carries a value");
  expect_refusal(*of("    if (v > best) { best = v; position = k; }\n"
                     "    if (v < best) { best = v; position = k; }\n"),
                 shared("32", "1"), "different operations");
}

// Few rows along two axes are those of a flat index first.
TEST(CrossThreadReduction, TakesRowsAlongTwoAxes) {
  auto kernel = KernelCase::make(
      "__global__ void f(const float* a, float* b, int n, int p, int m) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  int j = blockIdx.y * blockDim.y + threadIdx.y;\n  if (i < n && j < p) {\n"
      "    float s = 0.0f;\n    for (int k = 0; k < m; ++k) s += a[(j * n + i) * m + k];\n"
      "    for (int k = 0; k < m; ++k) b[(j * n + i) * m + k] = a[(j * n + i) * m + k] - s;\n  "
      "}\n}",
      "sizes: {n: 24, p: 20, m: 256}\nargs: {a: {dir: in, shape: [p, n, m]}, b: {dir: out, shape: "
      "[p, n, m]}}\nlaunch: {block: [32, 8], grid: ['cdiv(n, bx)', 'cdiv(p, by)']}\n"
      "tests: [{n: 5, p: 9, m: 33}, {n: 1, p: 1, m: 1}, {n: 40, p: 3, m: 128}]\n");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const auto state = expect_correct(**kernel, {shared("32", "4")});
  EXPECT_EQ(state.plan.launches.front().block.y, 1U);
  expect_correct(**kernel, {shared("128", "1")});
}

TEST(CrossThreadReduction, RefusesWithAReason) {
  auto many = KernelCase::make(
      "__global__ void f(const float* a, float* b, int n, int m) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + "
      "threadIdx.y;\n"
      "  if (i >= n || j >= n) return;\n  float s = 0.0f;\n"
      "  for (int k = 0; k < m; ++k) s += a[i * m + k] * a[j * m + k];\n  b[j * n + i] = s;\n}",
      "sizes: {n: 512, m: 64}\nargs: {a: {dir: in, shape: [n, m]}, b: {dir: out, shape: [n, n]}}\n"
      "launch: {block: [32, 8], grid: ['cdiv(n, bx)', 'cdiv(n, by)']}\ntests: [{n: 40, m: 33}]\n");
  ASSERT_TRUE(many.ok()) << many.error().message;
  expect_refusal(**many, shared("32", "4"), "more than one axis, and the grid enough threads");
  expect_refusal(*sample("saxpy_return"), shared("32", "4"), "no loop that threads could share");
  expect_refusal(*sample("window_sum"), shared("32", "4"), "only 8 iterations");
  expect_refusal(*sample("power_iterations"), shared("32", "4"), "carries a value");
  expect_refusal(*sample("sum_sequential_tree"), shared("32", "4"), "work together already");
  auto exact = KernelCase::make(
      "__global__ void f(const float* a, float* b, int n, int m) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n"
      "  float s = 0.0f;\n  for (int k = 0; k < m; ++k) s += a[i * m + k];\n  b[i] = s;\n}",
      "sizes: {n: 64, m: 64}\nargs: {a: {dir: in, shape: [n, m]}, b: {dir: out, shape: [n]}}\n"
      "launch: {block: 64, grid: 'cdiv(n, bx)'}\nassume: {reassociate: false}\n");
  ASSERT_TRUE(exact.ok()) << exact.error().message;
  expect_refusal(**exact, shared("32", "4"), "reassociate");
  auto until = KernelCase::make(
      "__global__ void f(const int* a, int* b, int n, int m) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n"
      "  int s = 0;\n  for (int k = 0; k < m - s; ++k) s += a[i * m + k];\n  b[i] = s;\n}",
      "sizes: {n: 64, m: 64}\n"
      "args: {a: {dir: in, shape: [n, m], init: 'int(0,1)'}, b: {dir: out, shape: [n]}}\n"
      "launch: {block: 64, grid: 'cdiv(n, bx)'}\n");
  ASSERT_TRUE(until.ok()) << until.error().message;
  expect_refusal(**until, shared("32", "4"), "'s' is read before the loop is over");
}

TEST(CrossThreadReduction, RefusesElementsThatSeveralThreadsOfARowTouch) {
  auto shifted = KernelCase::make(
      "__global__ void f(float* a, int n, int m) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n"
      "  for (int k = 0; k < m; ++k) a[i * (m + 1) + k] = a[i * (m + 1) + k + 1];\n}",
      "sizes: {n: 64, m: 64}\nargs: {a: {dir: inout, shape: [n, 'm + 1']}}\n"
      "launch: {block: 64, grid: 'cdiv(n, bx)'}\n");
  ASSERT_TRUE(shifted.ok()) << shifted.error().message;
  expect_refusal(**shifted, shared("32", "4"), "different threads of a row");
  auto early = KernelCase::make(
      "__global__ void f(float* a, int n, int m) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n"
      "  float first = a[i * m];\n"
      "  for (int k = 0; k < m; ++k) a[i * m + k] -= first;\n}",
      "sizes: {n: 64, m: 64}\nargs: {a: {dir: inout, shape: [n, m]}}\n"
      "launch: {block: 64, grid: 'cdiv(n, bx)'}\n");
  ASSERT_TRUE(early.ok()) << early.error().message;
  expect_refusal(**early, shared("32", "4"), "read by every thread of a row");
  auto feedback = KernelCase::make(
      "__global__ void f(const float* x, float* a, int n, int m) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n"
      "  for (int k = 0; k < m; ++k) a[i * m + k] = x[i * m + k];\n"
      "  a[i * m] = 1.0f;\n}",
      "sizes: {n: 64, m: 64}\n"
      "args: {x: {dir: in, shape: [n, m]}, a: {dir: out, shape: [n, m]}}\n"
      "launch: {block: 64, grid: 'cdiv(n, bx)'}\n");
  ASSERT_TRUE(feedback.ok()) << feedback.error().message;
  expect_refusal(**feedback, shared("32", "4"), "once a row");
}

TEST(CrossThreadReduction, SharesLoopsBehindElementsThatAreStoredOnceARow) {
  const auto first_alone = [](const std::string& place) {
    auto made = KernelCase::make(
        "__global__ void f(const float* x, float* a, int n, int m) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n"
        "  for (int k = 2; k < m; ++k) a[i * m + k] = x[i * m + k];\n"
        "  a[i * m + " +
            place + "] = 1.0f;\n}",
        "sizes: {n: 64, m: 64}\n"
        "args: {x: {dir: in, shape: [n, m]}, a: {dir: inout, shape: [n, m]}}\n"
        "launch: {block: 64, grid: 'cdiv(n, bx)'}\ntests: [{n: 70, m: 45}]\n");
    EXPECT_TRUE(made.ok()) << made.error().message;
    return made.ok() ? std::move(*made) : nullptr;
  };
  for (const char* place : {"0", "1"})
    expect_correct(*first_alone(place), {shared("32", "4")});
  for (const char* place : {"2", "9", "(m - 1)"})
    expect_refusal(*first_alone(place), shared("32", "4"), "once a row");
}

Application laid_out(const char* threads, const char* rows, const char* width) {
  return {"row_kernel", {{"threads", threads}, {"rows", rows}, {"width", width}}};
}

// In rounds, one array for two trees, a scalar that the first thread hands to all.
constexpr const char* kBlockScale = R"~(
__global__ void scale(float* x, float* norms, int rows, int cols) {
  __shared__ float slots[128];
  __shared__ float factor;
  const int t = threadIdx.x;
  const int row = blockIdx.x;
  if (row < rows) {
    float sum = 0.0f;
    float peak = -1.0f;
    for (int k = 0; k < (cols + 127) / 128; ++k) {
      int c = k * 128 + t;
      if (c < cols) {
        x[row * cols + c] += 0.5f;
        float v = x[row * cols + c];
        sum += v * v;
      }
    }
    slots[t] = sum;
    __syncthreads();
    for (int s = 64; s > 0; s /= 2) {
      if (t < s) slots[t] += slots[t + s];
      __syncthreads();
    }
    if (t == 0) {
      norms[row] += slots[0];
      factor = 1.0f / (slots[0] + 1.0f);
    }
    __syncthreads();
    for (int c = t; c < cols; c += blockDim.x) {
      if (x[row * cols + c] > peak) peak = x[row * cols + c];
    }
    slots[t] = peak;
    __syncthreads();
    for (int s = 64; s > 0; s /= 2) {
      if (t < s) slots[t] = fmaxf(slots[t], slots[t + s]);
      __syncthreads();
    }
    float largest = slots[0];
    for (int c = t; c < cols; c += blockDim.x) {
      x[row * cols + c] = (x[row * cols + c] - largest) * factor;
    }
  }
})~";
constexpr const char* kBlockScaleManifest = R"~(
sizes: {rows: 3000, cols: 1024}
args: {x: {dir: inout, shape: [rows, cols]}, norms: {dir: inout, shape: [rows]}}
launch: {block: 128, grid: rows}
tests: [{rows: 70, cols: 45}, {rows: 9, cols: 132}, {rows: 1, cols: 1}]
)~";

TEST(RowKernel, DealsOutNeighbouringRowsTogether) {
  auto columns = KernelCase::make(
      "__global__ void total(const float* x, float* sums, int rows, int cols) {\n"
      "  __shared__ float slots[64];\n  float sum = 0.0f;\n"
      "  for (int r = threadIdx.x; r < rows; r += 64) sum += x[r * cols + blockIdx.x];\n"
      "  slots[threadIdx.x] = sum;\n  __syncthreads();\n"
      "  for (int s = 32; s > 0; s /= 2) {\n"
      "    if (threadIdx.x < s) slots[threadIdx.x] += slots[threadIdx.x + s];\n"
      "    __syncthreads();\n  }\n"
      "  if (threadIdx.x == 0) sums[blockIdx.x] = slots[0];\n}",
      "sizes: {rows: 1024, cols: 4096}\n"
      "args: {x: {dir: in, shape: [rows, cols]}, sums: {dir: out, shape: [cols]}}\n"
      "launch: {block: 64, grid: cols}\n"
      "tests: [{rows: 70, cols: 45}, {rows: 129, cols: 64}, {rows: 1, cols: 1}]\n");
  ASSERT_TRUE(columns.ok()) << columns.error().message;
  for (const char* threads : {"8", "32"})
    expect_correct(**columns, {laid_out(threads, "32", "1")});
  expect_refusal(*sample("block_softmax"), laid_out("8", "32", "1"), "lie side by side");
}

TEST(RowKernel, LaysRowsOfBlocksOutAnew) {
  auto scale = KernelCase::make(kBlockScale, kBlockScaleManifest);
  ASSERT_TRUE(scale.ok()) << scale.error().message;
  const auto softmax = sample("block_softmax");
  ASSERT_NE(softmax, nullptr);
  for (const KernelCase* kernel : {softmax.get(), scale->get()}) {
    SCOPED_TRACE(source::print(kernel->original().unit));
    expect_correct(*kernel, {laid_out("32", "4", "1")});
    expect_correct(*kernel, {laid_out("256", "1", "1")});
    const auto state = expect_correct(*kernel, {laid_out("128", "1", "4")});
    EXPECT_EQ(state.plan.launches[0].grid[0].text(), "rows");
    const std::string text = source::print(state.unit);
    EXPECT_NE(text.find("float4"), std::string::npos) << text;
    EXPECT_NE(text.find("__shfl_xor_sync"), std::string::npos) << text;
  }
}

TEST(RowKernel, RefusesWhatOneThreadCouldNotDo) {
  const auto of = [](const std::string& start, const std::string& put, const std::string& end) {
    auto made = KernelCase::make(
        "__global__ void f(const float* x, float* y, int n, int m) {\n"
        "  __shared__ float slots[64];\n  int t = threadIdx.x;\n  float s = " +
            start +
            ";\n"
            "  for (int c = t; c < m; c += 64) s += x[blockIdx.x * m + c];\n" +
            put +
            "  __syncthreads();\n"
            "  for (int k = 32; k > 0; k >>= 1) {\n    if (t < k) slots[t] += slots[t + k];\n"
            "    __syncthreads();\n  }\n" +
            end + "}",
        "sizes: {n: 64, m: 640}\n"
        "args: {x: {dir: in, shape: [n, m]}, y: {dir: out, shape: [64 * n]}}\n"
        "launch: {block: 64, grid: n}\n");
    EXPECT_TRUE(made.ok()) << made.error().message;
    return made.ok() ? std::move(*made) : nullptr;
  };
  const Application step = laid_out("128", "1", "1");
  const std::string first = "  if (t == 0) y[blockIdx.x * 64] = slots[0];\n";
  expect_correct(*of("0.0f", "  slots[t] = s;\n", first), {step});
  expect_refusal(*of("1.0f", "  slots[t] = s;\n", first), step, "counted once for each thread");
  expect_refusal(*of("0.0f", "  slots[t] = s * s;\n", first), step, "not what it has added up");
  expect_refusal(
      *of("0.0f", "  slots[t] = s;\n", first + "  if (t == 0) y[blockIdx.x * 64 + 1] = s;\n"), step,
      "before the threads' parts are put together");
  expect_refusal(*of("0.0f", "  slots[t] = s;\n", "  y[blockIdx.x * 64 + t] = slots[0];\n"), step,
                 "the place of a thread");
  expect_refusal(*sample("softmax_rows"), step, "the place of a thread");
}

TEST(SliceReduction, DealsColumnsOutAlongY) {
  const auto kernel = sample("column_sums");
  ASSERT_NE(kernel, nullptr);
  const auto state = expect_correct(*kernel, {slices("8")});
  EXPECT_EQ(state.plan.launches[0].block, (Dim3{32, 8, 1}));
  EXPECT_EQ(state.plan.launches[0].grid[0].text(), "cdiv(cols, 32)");
  const std::string text = source::print(state.unit);
  EXPECT_NE(text.find("r += 8"), std::string::npos) << text;
  EXPECT_NE(text.find("__syncthreads()"), std::string::npos) << text;
  expect_correct(*kernel, {slices("4")});
  expect_correct(*kernel, {slices("32")});
  for (const char* name : {"row_sums", "softmax_rows", "row_statistics", "nearest_centre"}) {
    SCOPED_TRACE(name);
    expect_correct(*sample(name), {slices("16")});
  }
}

TEST(SliceReduction, RefusesWithAReason) {
  expect_refusal(*sample("matmul_guard"), slices("4"), "more than one axis");
  expect_refusal(*sample("saxpy_return"), slices("4"), "no loop that threads could share");
  expect_refusal(*sample("sum_sequential_tree"), slices("4"), "work together already");
  // A block of one row, in a grid of two axes.
  const auto rows = sample("matmul_guard");
  const auto flat = expect_correct(*rows, {{"block_size", {{"block", "64"}}}});
  expect_refusal(*rows, flat, slices("4"), "uses threadIdx.y, along which slices would lie");
  auto apart = KernelCase::make(
      "__global__ void f(const float* a, float* b, int n, int m) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n"
      "  float s = 0.0f;\n"
      "  for (int round = 0; round < 2 && s < 9.0f; ++round) {\n"
      "    for (int k = 0; k < m; ++k) s += a[k * n + i];\n  }\n"
      "  b[i] = s;\n}",
      "sizes: {n: 64, m: 64}\nargs: {a: {dir: in, shape: [m, n]}, b: {dir: out, shape: [n]}}\n"
      "launch: {block: 64, grid: 'cdiv(n, bx)'}\n");
  ASSERT_TRUE(apart.ok()) << apart.error().message;
  expect_refusal(**apart, slices("4"), "not all threads of a block reach the loop");
}

}  // namespace
}  // namespace regraph::test::row_steps_test
