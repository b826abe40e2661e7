// thread_per_element: grid-stride loops become one thread an element.
#include "rewrite/step_checks.h"

namespace regraph::test::thread_per_element_test {
namespace {

const Application kPerElement = {"thread_per_element", {}};

// A kernel of arrays a, b and c with n or n * m elements.
Result<std::unique_ptr<KernelCase>> elements_case(
    const std::string& body, const std::string& assume = "{noalias: true}",
    const std::string& launch = "{block: 32, grid: 3}") {
  return KernelCase::make(
      "__global__ void f(const float* a, float* b, int* c, int n, int m) {\n" + body + "\n}",
      "sizes: {n: 300, m: 8}\nargs:\n  a: {dir: in, shape: [n, m]}\n"
      "  b: {dir: inout, shape: [n, m]}\n  c: {dir: inout, shape: [n, m]}\n"
      "launch: " +
          launch +
          "\n"
          "tests: [{n: 137, m: 8}, {n: 256, m: 4}, {n: 1, m: 2}]\nassume: " +
          assume + "\n");
}

rewrite::KernelState expect_elements_done(const std::string& body,
                                          const std::string& assume = "{noalias: true}",
                                          const std::string& launch = "{block: 32, grid: 3}") {
  SCOPED_TRACE(body);
  const auto kernel = elements_case(body, assume, launch);
  EXPECT_TRUE(kernel.ok()) << kernel.error().message;
  return kernel ? expect_correct(**kernel, {kPerElement}) : rewrite::KernelState();
}

void expect_elements_refused(const std::string& body, const std::string& reason,
                             const std::string& assume = "{noalias: true}") {
  SCOPED_TRACE(body);
  // Of one thread, which has an order, so that no race of the original gets in the way.
  const auto kernel = elements_case(body, assume, "{block: 1, grid: 1}");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_refusal(**kernel, kPerElement, reason);
}

void expect_said(const rewrite::KernelState& state, const std::string& text) {
  const std::string code = source::print(state.unit);
  EXPECT_NE(code.find(text), std::string::npos) << "no '" << text << "' in\n" << code;
}

TEST(ThreadPerElement, GivesEveryElementAThread) {
  const auto state = expect_elements_done(
      "  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)\n"
      "    b[i] = 2.0f * a[i] + b[i];");
  EXPECT_EQ(state.plan.launches[0].grid[0].text(), "cdiv(n, bx)");
  expect_said(state, "const int i = blockIdx.x * blockDim.x + threadIdx.x;");
  expect_said(state, "if (i < n)");
}

TEST(ThreadPerElement, StepsFollowIt) {
  const auto kernel = elements_case(
      "  const size_t step = (size_t)gridDim.x * blockDim.x;\n"
      "  for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < (size_t)n; i += step)\n"
      "    b[i] = 2.0f * a[i] + b[i];");
  ASSERT_TRUE(kernel.ok());
  const auto state =
      expect_correct(**kernel, {kPerElement, {"vectorize_global", {{"width", "4"}}}});
  EXPECT_EQ(state.plan.launches[0].grid[0].text(), "cdiv(n, 4 * bx)");
  EXPECT_EQ(source::print(state.unit).find("step"), std::string::npos);
  expect_correct(**kernel, {kPerElement, {"block_size", {{"block", "128"}}}});
  const auto planes = sample("planes_by_a_stride_of_the_grid");
  ASSERT_NE(planes, nullptr);
  expect_correct(*planes, {kPerElement, {"parallel_loop", {{"axis", "x"}, {"loop", "1"}}}});
}

TEST(ThreadPerElement, TakesLoopsOfAllKinds) {
  expect_elements_done(
      "  int i = threadIdx.x + blockIdx.x * blockDim.x;\n  const int all = blockDim.x * "
      "gridDim.x;\n"
      "  while (i < n) {\n    b[i] = a[i];\n    i = i + all;\n  }");
  // The block as a number, an offset, bounds of parameters.
  const auto offset = expect_elements_done(
      "  for (unsigned i = 1 + blockIdx.x * 32 + threadIdx.x; i < n * m; i += gridDim.x * 32)\n"
      "    b[i - 1] = a[i];");
  EXPECT_EQ(offset.plan.launches[0].grid[0].text(), "cdiv(m * n - 1, bx)");
  // Loops inside, whose places follow the element.
  expect_elements_done(
      "  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)\n"
      "    for (int k = i * m; k < i * m + m; ++k) b[k] += a[k];");
  // Another axis, with a loop around it.
  const auto rows = expect_elements_done(
      "  int t = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  for (int k = 0; k < 2; ++k)\n"
      "    for (int r = blockIdx.y * blockDim.y + threadIdx.y; r < n; r += gridDim.y * "
      "blockDim.y)\n"
      "      if (t < m) b[r * m + t] += a[r * m + t];",
      "{noalias: true}", "{block: [8, 4], grid: ['cdiv(m, bx)', 2]}");
  EXPECT_EQ(rows.plan.launches[0].grid[1].text(), "cdiv(n, by)");
  // Atomics have no order.
  expect_elements_done(
      "  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)\n"
      "    atomicAdd(&c[i % 3], 1);");
  // No element at some size.
  const auto rarely = expect_elements_done(
      "  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n - 1; i += gridDim.x * "
      "blockDim.x)\n    b[i] = a[i + 1];");
  EXPECT_EQ(rarely.plan.launches[0].grid[0].text(), "cdiv(max(1, n - 1), bx)");
}

const Application kRows = {"thread_per_element", {{"form", "rows"}}};

TEST(ThreadPerElement, RowsMayStayRowsOfBlocks) {
  const auto kernel = elements_case(
      "  float taps[2];\n  for (int k = 0; k < 2; ++k) taps[k] = a[k];\n"
      "  const float* row = a + blockIdx.x * m;\n"
      "  for (int t = threadIdx.x; t < m; t += blockDim.x) {\n    float sum = 0.0f;\n"
      "    for (int k = 0; k < 2; ++k) sum += taps[k] * (t >= k ? row[t - k] : 0.0f);\n"
      "    b[blockIdx.x * m + t] = sum;\n  }",
      "{noalias: true}", "{block: 32, grid: n}");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const auto state = expect_correct(**kernel, {kRows});
  EXPECT_EQ(state.plan.launches[0].grid[0].text(), "cdiv(m, bx)");
  EXPECT_EQ(state.plan.launches[0].grid[1].text(), "n");
  const std::string code = source::print(state.unit);
  expect_text(code, "t = blockIdx.x * blockDim.x + threadIdx.x;");
  expect_no_text(code, " / ");
  // With two axes of the grid, both go up by one.
  const auto two = KernelCase::make(
      "__global__ void f(const float* a, float* b, int n, int k, int m) {\n"
      "  const long long row = (long long)blockIdx.y * n + blockIdx.x;\n"
      "  for (int t = threadIdx.x; t < m; t += 64) b[row * m + t] = 2.0f * a[row * m + t];\n}",
      "sizes: {n: 5, k: 3, m: 80}\nargs: {a: {shape: [k, n, m]}, b: {dir: inout, shape: [k, n, "
      "m]}}\n"
      "launch: {block: 64, grid: [n, k]}\ntests: [{n: 5, k: 3, m: 80}, {n: 1, k: 2, m: 7}]\n"
      "assume: {noalias: true}\n");
  ASSERT_TRUE(two.ok()) << two.error().message;
  const auto moved = expect_correct(**two, {kRows});
  EXPECT_EQ(moved.plan.launches[0].grid[2].text(), "k");
  expect_correct(**two, {kRows, {"vectorize_global", {{"width", "4"}}}});
}

TEST(ThreadPerElement, RowsThatAreNotOfElementsStay) {
  const auto refused = [](const std::string& body, const std::string& reason,
                          const std::string& launch = "{block: 32, grid: n}") {
    const auto kernel = elements_case(body, "{noalias: true}", launch);
    ASSERT_TRUE(kernel.ok()) << kernel.error().message;
    expect_refusal(**kernel, kRows, reason);
  };
  refused(
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  for (; i < n * m; i += gridDim.x * blockDim.x) b[i] = a[i];",
      "in turn", "{block: 32, grid: 3}");
  refused(
      "  float sum = 0.0f;\n"
      "  for (int t = threadIdx.x; t < m; t += blockDim.x) sum += a[blockIdx.x * m + t];\n"
      "  if (sum > 1e30f) b[blockIdx.x * m] = sum;",
      "'sum' carries a value");
  refused(
      "  for (int t = threadIdx.x; t < m; t += blockDim.x) b[blockIdx.x * m + t] = a[t];\n"
      "  if (threadIdx.x == 0) c[blockIdx.x] = 1;",
      "asks for threadIdx.x otherwise");
}

TEST(ThreadPerElement, DealsOutTheRowsOfBlocks) {
  const auto rows = expect_elements_done(
      "  const size_t row = blockIdx.x;\n"
      "  for (size_t c = threadIdx.x; c < (size_t)m; c += blockDim.x)\n"
      "    b[row * m + c] = 2.0f * a[row * m + c] + b[row * m + c];",
      "{noalias: true}", "{block: 32, grid: n}");
  EXPECT_EQ(rows.plan.launches[0].grid[0].text(), "cdiv(n * m, bx)");
  expect_said(rows, "b[thread]");
  // The block as a number, and two arrays.
  expect_elements_done(
      "  for (int k = threadIdx.x; k < m; k += 32) {\n"
      "    c[blockIdx.x * m + k] = k;\n    b[blockIdx.x * m + k] = a[k];\n  }",
      "{noalias: true}", "{block: 32, grid: n}");
}

// An element that is stored whatever a condition says can be loaded whatever it says.
TEST(VectorizeGlobal, LoadsWhatIsStoredInAnyCase) {
  const Application wide = {"vectorize_global", {{"width", "4"}}};
  const std::string begin = "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) ";
  const auto kernel = elements_case(begin + "b[i] = i % m < 3 ? 2.0f * b[i] : -1.0f;",
                                    "{noalias: true}", "{block: 32, grid: 'cdiv(n, bx)'}");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_said(expect_correct(**kernel, {wide}), "float4 b_vector = ((const float4*)&b[");
  const auto stored = elements_case(begin + "{ c[i] = 1; if (i % m < 3) b[i] = 2.0f * b[i]; }",
                                    "{noalias: true}", "{block: 32, grid: 'cdiv(n, bx)'}");
  ASSERT_TRUE(stored.ok()) << stored.error().message;
  const auto partly = expect_correct(**stored, {wide});
  expect_said(partly, "c_vector");
  EXPECT_EQ(source::print(partly.unit).find("b_vector"), std::string::npos);
}

TEST(ThreadPerElement, LeavesBlocksThatDoMoreThanDealOut) {
  const auto refused = [](const std::string& body, const std::string& reason) {
    SCOPED_TRACE(body);
    const auto kernel = elements_case(body, "{noalias: true}", "{block: 32, grid: n}");
    ASSERT_TRUE(kernel.ok()) << kernel.error().message;
    expect_refusal(**kernel, kPerElement, reason);
  };
  const std::string loop = "  for (int k = threadIdx.x; k < m; k += blockDim.x) ";
  refused(loop + "b[blockIdx.x * m + k] = threadIdx.x;", "the kernel asks for threadIdx.x");
  refused("  if (threadIdx.x == 0) c[blockIdx.x] = 1;\n" + loop + "b[blockIdx.x * m + k] = a[k];",
          "the kernel asks for threadIdx.x");
  refused("  float s = 0;\n" + loop + "s += a[k];\n  if (s < -1e30f) b[blockIdx.x * m] = s;",
          "carries a value from one iteration to the next");
}

TEST(ThreadPerElement, RefusesWhatOrdersIterationsOrAsksForThreads) {
  const std::string loop =
      "  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) ";
  expect_elements_refused("  float sum = 0;\n" + loop +
                              "sum += a[i];\n  b[blockIdx.x * blockDim.x + threadIdx.x] = sum;",
                          "'sum' carries a value from one iteration to the next");
  expect_elements_refused(loop + "b[i % 7] = a[i];", "index is no polynomial");
  expect_elements_refused(loop + "{ b[i] = a[i]; b[i + 1] = 0; }", "several iterations may touch");
  expect_elements_refused(loop + "for (int k = i; k < i + 2; ++k) b[k] += a[k];",
                          "several iterations may touch");
  expect_elements_refused(loop + "b[i] = threadIdx.x;",
                          "the kernel asks for threadIdx.x otherwise than to deal out elements");
  expect_elements_refused("  int t = blockIdx.x * blockDim.x + threadIdx.x;\n" + loop + "b[i] = t;",
                          "the kernel asks for threadIdx.x");
  expect_elements_refused("  if (threadIdx.x < 16)\n" + loop + "b[i] = a[i];",
                          "the kernel asks for threadIdx.x");
  expect_elements_refused("  c[0] = 1;\n" + loop + "b[i] = a[i];",
                          "what a thread writes besides would be written by several");
  expect_elements_refused(loop + "b[i] = a[i];\n" + loop + "c[i] = 1;",
                          "would run this loop as well");
  expect_elements_refused(
      "  for (int i = threadIdx.x; i < n; i += gridDim.x * blockDim.x) b[i] = a[i];",
      "does not begin with the element of its own number");
  expect_elements_refused(
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) b[i] = a[i];",
      "no loop in which the threads of the grid take elements in turn");
  expect_elements_refused(loop + "b[i] = a[i];", "noalias", "{noalias: false}");
  expect_elements_refused(loop + "atomicAdd(&b[i % 3], 1.0f);", "reassociate",
                          "{noalias: true, reassociate: false}");
}

// With a width neighbours are taken together at once, of windows, too.
TEST(ThreadPerElement, TakesNeighboursByVectors) {
  const char* launch = "{block: 32, grid: n}";
  const auto map = elements_case(
      "  for (int j = threadIdx.x; j < m; j += blockDim.x)\n"
      "    b[blockIdx.x * m + j] = 2.0f * a[blockIdx.x * m + j];",
      "{noalias: true}", launch);
  ASSERT_TRUE(map.ok()) << map.error().message;
  const auto window = elements_case(
      "  for (int j = threadIdx.x; j < m; j += blockDim.x) {\n    float sum = 0.0f;\n"
      "    for (int k = 0; k < 3; ++k) if (j - k >= 0) sum += a[blockIdx.x * m + j - k];\n"
      "    b[blockIdx.x * m + j] = sum;\n  }",
      "{noalias: true}", launch);
  ASSERT_TRUE(window.ok()) << window.error().message;
  for (const KernelCase* kernel : {map->get(), window->get()}) {
    const auto rows =
        expect_correct(*kernel, {{"thread_per_element", {{"form", "rows"}, {"width", "4"}}}});
    expect_said(rows, "float4");
    EXPECT_EQ(rows.plan.launches[0].grid[1].text(), "n");
  }
  const auto flat = expect_correct(**map, {{"thread_per_element", {{"width", "4"}}}});
  expect_said(flat, "float4");
  expect_refusal(**window, {"thread_per_element", {{"width", "4"}}}, "vectorize_global: ");
}

}  // namespace
}  // namespace regraph::test::thread_per_element_test
