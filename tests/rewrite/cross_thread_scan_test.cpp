// Loops that use what they have accumulated so far, dealt out to threads.
#include "rewrite/step_checks.h"

namespace regraph::test::cross_thread_scan_test {
namespace {

constexpr const char* kScans[] = {
    "scan_sums",          "scan_onto_previous", "scan_exclusive_counts", "scan_means_in_place",
    "scan_column_maxima", "scan_distribution",  "scan_segments"};

Application lanes(const char* threads, const char* rows, const char* items) {
  return {"cross_thread_scan",
          {{"threads_per_row", threads}, {"rows_per_block", rows}, {"items", items}}};
}

Application slices(const char* number, const char* items) {
  return {"slice_scan", {{"slices", number}, {"items", items}}};
}

std::string text_of(const rewrite::KernelState& state) {
  return source::print(state.unit);
}

void expect_text(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts)
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
}

// A kernel with `body` for each row i of m elements, under the usual guard.
std::unique_ptr<KernelCase> row_case(const std::string& body, const std::string& more = "") {
  auto made = KernelCase::make(
      "__global__ void f(const float* x, float* y, float* z, int n, int m) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n"
      "  float s = 0.0f;\n" +
          body + "}",
      "sizes: {n: 64, m: 128}\n"
      "args: {x: {dir: in, shape: [n, m]}, y: {dir: inout, shape: [n, m]}, "
      "z: {dir: inout, shape: [n, m]}}\n"
      "launch: {block: 64, grid: 'cdiv(n, bx)'}\ntests: [{n: 70, m: 45}, {n: 3, m: 1}]\n"
      "check: {tolerance: 1.0e-4}\n" +
          more);
  EXPECT_TRUE(made.ok()) << made.error().message;
  return made.ok() ? std::move(*made) : nullptr;
}

const std::string kOver = "  for (int k = 0; k < m; ++k) ";

TEST(CrossThreadScan, DealsRowsOutToWarpsAndBlocks) {
  for (const char* name : kScans) {
    SCOPED_TRACE(name);
    const auto kernel = sample(name);
    ASSERT_NE(kernel, nullptr);
    for (const char* items : {"1", "2", "4", "8"}) {
      SCOPED_TRACE(items);
      expect_correct(*kernel, {lanes("32", "4", items)});
      expect_correct(*kernel, {lanes("128", "1", items)});
    }
    const auto state = expect_correct(*kernel, {lanes("256", "1", "4")});
    EXPECT_EQ(state.plan.launches[0].block, (Dim3{256, 1, 1}));
  }
}

TEST(CrossThreadScan, DoesTheBodyWhenWhatComesBeforeIsKnown) {
  const auto kernel = sample("scan_sums");
  const std::string warp = text_of(expect_correct(*kernel, {lanes("32", "4", "1")}));
  expect_text(warp,
              {"for (int round = 0; round < cols; round += 32)", "sum_part += x_value;",
               "__shfl_up_sync(0xffffffffu, sum_part, distance)", "if (lane == 0) {",
               "sum += sum_of_round;", "sum_here += x_value;", "y[row * cols + c] = sum_here;"});
  EXPECT_EQ(warp.find("__syncthreads"), std::string::npos) << warp;
  // One barrier a round, with two sets of slots.
  const std::string block = text_of(expect_correct(*kernel, {lanes("128", "1", "1")}));
  expect_text(block, {"__shared__ float sum_of_warp[2][4];", "buffer ^= 1;",
                      "sum_of_warp[buffer][lane / 32] = sum_part;"});
  EXPECT_EQ(block.find("__syncthreads"), block.rfind("__syncthreads")) << block;
}

TEST(CrossThreadScan, MovesAThreadsItemsAsVectorsWhereRowsAllowIt) {
  const std::string text = text_of(expect_correct(*sample("scan_sums"), {lanes("128", "1", "4")}));
  expect_text(text, {"if (cols % 4 == 0) {", "float4 x_vector", "float4 y_stored", "round += 512",
                     "if (first < cols) {"});
  // Of the first vector not all is the loop's.
  const std::string behind =
      text_of(expect_correct(*sample("scan_onto_previous"), {lanes("128", "1", "4")}));
  expect_text(behind, {"if (c >= 1) {", "if (first >= 1) {", "float4 y_stored"});
  // Doubles that are kept for a thread are no obstacle, other loops over the row are.
  expect_text(text_of(expect_correct(*sample("scan_means_in_place"), {lanes("32", "4", "4")})),
              {"float4 y_vector", "double sum_here"});
  const std::string with_others =
      text_of(expect_correct(*sample("scan_distribution"), {lanes("128", "1", "4")}));
  EXPECT_EQ(with_others.find("float4"), std::string::npos) << with_others;
  expect_text(with_others, {"for (int c = lane; c < cols; c += 128)"});
}

TEST(CrossThreadScan, HandsOnWhatTheIterationBeforeHasStored) {
  const std::string text =
      text_of(expect_correct(*sample("scan_onto_previous"), {lanes("128", "1", "1")}));
  expect_text(text, {"float y_value = x[row * cols];", "y_value_here = y_value_here + x_value;"});
  // In place, and without a store in front: the element is there already.
  for (const char* body :
       {"  for (int k = 1; k < m; ++k) y[i * m + k] += y[i * m + k - 1];\n",
        "  float* r = y + i * m;\n  for (int k = 2; k < m; k += 2) r[k] = x[i * m + k] + r[k - "
        "2];\n",
        "  y[i * m] = 2.0f;\n  z[i * m] = 1.0f;\n"
        "  for (int k = 1; k < m; ++k) { y[i * m + k] = y[i * m + k - 1] * x[i * m + k]; }\n"}) {
    const auto kernel = row_case(body);
    expect_correct(*kernel, {lanes("32", "4", "1")});
    expect_correct(*kernel, {lanes("32", "4", "4")});
    expect_correct(*kernel, {slices("8", "4")});
  }
}

TEST(CrossThreadScan, TakesWhatLeadsToTheAccumulators) {
  for (const std::string& body :
       {// Conditions, loops and temporaries of an iteration.
        kOver +
            "{ float t = 1.0f; if (x[i * m + k] > 0.0f) t = x[i * m + k]; if (k % 3 != 1) s += t * "
            "t; y[i * m + k] = t; z[i * m + k] = s > 4.0f ? s : t; }\n",
        kOver +
            "{ float t = 0.0f; for (int l = 0; l < 2; ++l) t += x[i * m + (k + l) % m]; s += t; "
            "y[i * m + k] = s; }\n",
        // The old value goes into the sum and out again.
        kOver + "{ float t = s; s += y[i * m + k]; y[i * m + k] = t; }\n",
        // What comes before an update and behind it, and after the loop.
        kOver + "{ z[i * m + k] += s; s = s + 2.0f * x[i * m + k] - 1.0f; y[i * m + k] -= s; }\n"
                "  z[i * m] = s;\n"}) {
    SCOPED_TRACE(body);
    const auto kernel = row_case(body);
    const bool stores_behind = body.find("z[i * m] = s") != std::string::npos;
    if (stores_behind) {
      expect_refusal(*kernel, lanes("32", "4", "1"), "written once a row and in a loop");
      continue;
    }
    expect_correct(*kernel, {lanes("32", "4", "1")});
    expect_correct(*kernel, {lanes("32", "4", "4")});
    expect_correct(*kernel, {slices("4", "2")});
  }
}

TEST(CrossThreadScan, KnowsTheOperationsOfReductions) {
  auto made = KernelCase::make(
      "__global__ void f(const int* x, unsigned long long* p, long long* a, unsigned* h, int* low, "
      "double* d, int n, int m) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n"
      "  unsigned long long product = 3;\n  long long all = -1;\n  unsigned odd = 0;\n"
      "  int least = 100;\n  double most = -1.0;\n"
      "  for (unsigned k = 0; k < m; ++k) {\n    int v = x[i * m + k];\n"
      "    p[i * m + k] = product;\n    product = product * (unsigned long long)(v | 1);\n"
      "    all &= v | 8;\n    a[i * m + k] = all;\n    odd ^= (unsigned)v;\n"
      "    h[i * m + k] = odd;\n    least = min(v, least);\n    low[i * m + k] = least;\n"
      "    most = fmax(most, 0.5 * v);\n    d[i * m + k] = most;\n  }\n}",
      "sizes: {n: 64, m: 128}\n"
      "args:\n  x: {dir: in, shape: [n, m], init: 'int(-99,99)'}\n"
      "  p: {dir: out, shape: [n, m]}\n  a: {dir: out, shape: [n, m]}\n"
      "  h: {dir: out, shape: [n, m]}\n  low: {dir: out, shape: [n, m]}\n"
      "  d: {dir: out, shape: [n, m]}\n"
      "launch: {block: 64, grid: 'cdiv(n, bx)'}\ntests: [{n: 70, m: 300}, {n: 3, m: 45}]\n"
      // Nothing that rounds.
      "assume: {reassociate: false}\n");
  ASSERT_TRUE(made.ok()) << made.error().message;
  for (const char* items : {"1", "4"}) {
    expect_correct(**made, {lanes("32", "4", items)});
    expect_correct(**made, {lanes("128", "1", items)});
    expect_correct(**made, {slices("8", items)});
  }
}

TEST(CrossThreadScan, RefusesWithAReason) {
  const Application step = lanes("32", "4", "1");
  expect_refusal(*sample("row_sums"), step, "no loop over a row uses what it has accumulated");
  expect_refusal(*sample("matmul_guard"), step, "more than one axis");
  const std::string sum = kOver + "{ s += x[i * m + k]; y[i * m + k] = s; }\n";
  expect_refusal(*row_case(sum, "assume: {reassociate: false}\n"), step, "reassociate");
  expect_refusal(*row_case(sum, "assume: {noalias: false}\n"), step, "noalias");
  expect_refusal(*row_case(sum), lanes("256", "1", "1"), "only 128 iterations for 256 threads");
  expect_refusal(*row_case(kOver + "{ s = 0.5f * s + x[i * m + k]; y[i * m + k] = s; }\n"), step,
                 "carries a value");
  // Sums of sums, and sums under a condition that a sum decides.
  expect_refusal(*row_case("  float u = 0.0f;\n" + kOver +
                           "{ s += x[i * m + k]; u += s; y[i * m + k] = u; }\n"),
                 step, "what is added to 'u' follows from what was accumulated before");
  expect_refusal(*row_case(kOver + "{ float t = s * x[i * m + k]; s += t; y[i * m + k] = s; }\n"),
                 step, "what is added to 's' follows");
  expect_refusal(*row_case(kOver + "{ if (s < 9.0f) { s += x[i * m + k]; } y[i * m + k] = s; }\n"),
                 step, "what is added to 's' follows");
  expect_refusal(*row_case(kOver + "{ y[i * m + k] = x[i * m + k]; s += y[i * m + k]; z[i * m + k] "
                                   "= s; }\n"),
                 step, "reads 'y' after it has written it");
  expect_refusal(*row_case("  float b = -9.0f;\n  int p = 0;\n" + kOver +
                           "{ if (x[i * m + k] > b) { b = x[i * m + k]; p = k; } y[i * m + k] = p; "
                           "}\n"),
                 step, "looks for a best value");
  expect_refusal(*row_case("  for (int k = 0; k < min(m, (int)y[i * m]); ++k) { s += x[i * m + k]; "
                           "y[i * m + k] = s; }\n"),
                 step, "its bounds are read from 'y'");
  auto until = KernelCase::make(
      "__global__ void f(const int* x, int* y, int n, int m) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n"
      "  int s = 0;\n"
      "  for (int k = 0; k < m - s; ++k) { s += x[i * m + k]; y[i * m + k] = s; }\n}",
      "sizes: {n: 64, m: 64}\n"
      "args: {x: {dir: in, shape: [n, m], init: 'int(0,1)'}, y: {dir: inout, shape: [n, m]}}\n"
      "launch: {block: 64, grid: 'cdiv(n, bx)'}\ntests: [{n: 70, m: 45}]\n");
  ASSERT_TRUE(until.ok()) << until.error().message;
  expect_refusal(**until, step, "where it ends follows from what it accumulates");
}

TEST(CrossThreadScan, RefusesElementsThatSeveralThreadsOfARowTouch) {
  const Application step = lanes("32", "4", "1");
  expect_refusal(
      *row_case("  for (int k = 0; k < m - 1; ++k) { s += y[i * m + k + 1]; y[i * m + k] = s; "
                "}\n"),
      step, "different threads of a row");
  // Other loops deal elements out in another way.
  expect_refusal(*row_case(kOver + "y[i * m + k] = x[i * m + k];\n" + kOver +
                           "{ s += y[i * m + k]; z[i * m + k] = s; }\n"),
                 step, "different threads of a row");
  // A scan may have no round, and then no barrier.
  expect_refusal(*row_case("  float a = z[i * m];\n" + kOver +
                           "{ s += x[i * m + k]; y[i * m + k] = s; }\n  z[i * m] = a + s;\n"),
                 lanes("32", "4", "1"), "read by every thread of a row");
}

TEST(SliceScan, DealsStepsOutToSlices) {
  for (const char* name : kScans) {
    SCOPED_TRACE(name);
    const auto kernel = sample(name);
    ASSERT_NE(kernel, nullptr);
    for (const char* items : {"1", "4"}) {
      expect_correct(*kernel, {slices("8", items)});
      expect_correct(*kernel, {slices("16", items)});
    }
  }
}

TEST(SliceScan, HasStretchesOfTheLoopForSlices) {
  const auto state = expect_correct(*sample("scan_column_maxima"), {slices("8", "4")});
  EXPECT_EQ(state.plan.launches[0].block, (Dim3{32, 8, 1}));
  EXPECT_EQ(state.plan.launches[0].grid[0].text(), "cdiv(series, 32)");
  const std::string text = text_of(state);
  expect_text(text, {"__shared__ float maximum_of_slice[2][8][32];",
                     "for (int round = 0; round < steps; round += 32)",
                     "const int first = round + slice * 4;", "const int t = first + item;",
                     "float maximum_part = maximum;", "if (other < slice) {"});
  EXPECT_EQ(text.find("__syncthreads"), text.rfind("__syncthreads")) << text;
}

TEST(SliceScan, RefusesWithAReason) {
  expect_refusal(*sample("column_sums"), slices("8", "4"), "no loop uses what it has accumulated");
  auto lengths = KernelCase::make(
      "__global__ void f(const float* x, const int* length, float* y, int n, int m) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n"
      "  float s = 0.0f;\n  for (int k = 0; k < length[i]; ++k) { s += x[k * n + i]; y[k * n + i] "
      "= s; "
      "}\n}",
      "sizes: {n: 64, m: 64}\n"
      "args: {x: {dir: in, shape: [m, n]}, length: {dir: in, shape: [n], init: 'int(0,9)'}, "
      "y: {dir: inout, shape: [m, n]}}\n"
      "launch: {block: 64, grid: 'cdiv(n, bx)'}\ntests: [{n: 70, m: 45}]\n");
  ASSERT_TRUE(lengths.ok()) << lengths.error().message;
  expect_refusal(**lengths, slices("8", "4"), "not all threads of a block reach the loop");
  // Lanes of a row have as many all the same.
  expect_correct(**lengths, {lanes("32", "4", "1")});
  auto triangle = KernelCase::make(
      "__global__ void f(const float* x, float* y, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  float s = 0.0f;\n  for (int k = 0; k < i; ++k) { if (i < n) { s += x[k * n + i]; "
      "y[k * n + i] = s; } }\n}",
      "sizes: {n: 64}\nargs: {x: {dir: in, shape: [n, n]}, y: {dir: inout, shape: [n, n]}}\n"
      "launch: {block: 64, grid: 'cdiv(n, bx)'}\ntests: [{n: 70}]\n");
  ASSERT_TRUE(triangle.ok()) << triangle.error().message;
  expect_refusal(**triangle, slices("8", "4"), "different numbers of iterations");
}

}  // namespace
}  // namespace regraph::test::cross_thread_scan_test
