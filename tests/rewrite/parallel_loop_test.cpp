// parallel_loop: loops whose iterations become threads.
#include "rewrite/step_checks.h"

namespace regraph::test::parallel_loop_test {
namespace {

Application fold(const char* loop = "1") {
  return {"parallel_loop", {{"axis", "x"}, {"loop", loop}}};
}

Application along(const char* axis, const char* loop = "1") {
  return {"parallel_loop", {{"axis", axis}, {"loop", loop}}};
}

Application moved(const char* old_x, const char* loop = "1") {
  return {"parallel_loop", {{"axis", "x"}, {"loop", loop}, {"old_x", old_x}}};
}

bool says(const rewrite::KernelState& state, const std::string& text) {
  const std::string code = source::print(state.unit);
  EXPECT_NE(code.find(text), std::string::npos) << "no '" << text << "' in\n" << code;
  return code.find(text) != std::string::npos;
}

// A kernel of arrays a, b and c with n or n * m elements, and one thread for each of n.
Result<std::unique_ptr<KernelCase>> case_of(const std::string& body,
                                            const std::string& assume = "{noalias: true}",
                                            const std::string& type = "float") {
  return KernelCase::make("__global__ void f(const " + type + "* a, " + type +
                              "* b, int* c, int n, int m) {\n"
                              "  int t = blockIdx.x * blockDim.x + threadIdx.x;\n  if (t < n) {\n" +
                              body + "\n  }\n}",
                          "sizes: {n: 64, m: 16}\nargs:\n  a: {dir: in, shape: [n, m]}\n"
                          "  b: {dir: inout, shape: [n, m]}\n  c: {dir: inout, shape: [n, m]}\n"
                          "launch: {block: 32, grid: 'cdiv(n, bx)'}\n"
                          "tests: [{n: 37, m: 9}, {n: 32, m: 8}]\nassume: " +
                              assume + "\n");
}

void expect_body_refused(const std::string& body, const std::string& reason,
                         const std::string& assume = "{noalias: true}") {
  SCOPED_TRACE(body);
  const auto kernel = case_of(body, assume);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_refusal(**kernel, fold(), reason);
}

void expect_body_done(const std::string& body, const Application& step = fold(),
                      const std::string& assume = "{noalias: true}") {
  SCOPED_TRACE(body);
  const auto kernel = case_of(body, assume);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_correct(**kernel, {step});
}

TEST(ParallelLoop, FoldsANestIntoTheIndex) {
  const auto kernel = sample("batched_products");
  ASSERT_NE(kernel, nullptr);
  const auto once = expect_correct(*kernel, {fold()});
  EXPECT_EQ(once.plan.launches[0].grid[0].text(), "cdiv(8 * batch, bx)");
  says(once, "if (thread < batch * 8)");
  says(once, "C[thread * 8 + j] = sum");
  const auto twice = expect_correct(*kernel, {fold(), fold()});
  EXPECT_EQ(twice.plan.launches[0].grid[0].text(), "cdiv(64 * batch, bx)");
  says(twice, "if (thread2 < batch * 64)");
  says(twice, "C[thread2] = sum");
  says(twice, "const int j = thread2 % 8;");
}

TEST(ParallelLoop, GivesLoopsAxesOfTheirOwn) {
  const auto kernel = sample("batched_products");
  ASSERT_NE(kernel, nullptr);
  const auto rows = expect_correct(*kernel, {along("y")});
  EXPECT_EQ(rows.plan.launches[0].grid[1].text(), "cdiv(8, by)");
  EXPECT_EQ(rows.plan.launches[0].block, (Dim3{64, 4, 1}));
  says(rows, "const int i = (int)(blockIdx.y * blockDim.y + threadIdx.y);");
  const auto both = expect_correct(*kernel, {along("y"), moved("z")});
  EXPECT_EQ(both.plan.launches[0].block, (Dim3{8, 4, 8}));
  EXPECT_EQ(both.plan.launches[0].grid[2].text(), "cdiv(batch, bz)");
  says(both, "int m = blockIdx.z * blockDim.z + threadIdx.z;");
  says(both, "const int j = (int)(blockIdx.x * blockDim.x + threadIdx.x);");
  expect_correct(*kernel, {moved("y", "2"), along("z")});
}

TEST(ParallelLoop, StepsFollowIt) {
  const auto products = sample("batched_products");
  expect_correct(*products, {fold(), fold(), {"thread_coarsen", {{"axis", "x"}, {"factor", "4"}}}});
  expect_correct(*products, {along("y"),
                             moved("z"),
                             {"thread_coarsen", {{"axis", "y"}, {"factor", "2"}}},
                             {"loop_unroll", {{"factor", "full"}, {"loop", "all"}}}});
  // Matrices, rows and columns are digits of one number: tiles of three dimensions.
  const Application coarsened = {"thread_coarsen", {{"axis", "y"}, {"factor", "2"}}};
  const auto tiled = expect_correct(
      *products,
      {along("y"), moved("z"), coarsened, {"smem_tile", {{"depth", "8"}, {"loop", "1"}}}});
  says(tiled, "__shared__ float B_tile[8][8][8];");
  expect_correct(*products, {along("y"),
                             moved("z"),
                             coarsened,
                             {"smem_tile", {{"depth", "8"}, {"loop", "1"}, {"copy", "vector"}}}});
  const auto chunks = sample("chunk_a_thread");
  const auto state = expect_correct(*chunks, {fold(), {"vectorize_global", {{"width", "4"}}}});
  EXPECT_EQ(state.plan.launches[0].grid[0].text(), "cdiv(n, 4 * bx)");
  const auto rows = sample("row_scaled_by_a_thread");
  expect_correct(*rows, {fold(), {"block_size", {{"block", "256"}}}, {"restrict_ldg", {}}});
  expect_correct(*rows, {moved("y"), {"block_size", {{"block", "32x8"}}}});
}

TEST(ParallelNest, IsTwoLoopsAtOnce) {
  const auto kernel = sample("batched_products");
  ASSERT_NE(kernel, nullptr);
  const auto flat = expect_correct(*kernel, {{"parallel_nest", {{"form", "flat"}}}});
  says(flat, "C[thread2] = sum");
  const auto axes = expect_correct(*kernel, {{"parallel_nest", {{"form", "axes"}}}});
  EXPECT_EQ(axes.plan.launches[0].block, (Dim3{8, 4, 8}));
  const auto tiles = expect_correct(*kernel, {{"parallel_nest", {{"form", "tiles"}}}});
  EXPECT_EQ(tiles.plan.launches[0].grid[1].text(), "cdiv(8, 4 * by)");
  says(tiles, "B_tile[8][8][8]");
  for (const char* form : {"flat", "axes", "tiles"}) {
    const Application nest = {"parallel_nest", {{"form", form}}};
    expect_refusal(*sample("saxpy_return"), nest, "parallel_loop: the kernel has no loop");
    expect_refusal(*sample("row_scaled_by_a_thread"), nest,
                   "parallel_loop: the kernel has no loop");
  }
  EXPECT_FALSE(kernel->apply(kernel->original(), "parallel_nest", {{"form", "round"}}));
}

TEST(ParallelLoop, TakesBoundsOfAllKinds) {
  const auto columns = sample("columns_updated_in_place");
  ASSERT_NE(columns, nullptr);
  // From 1 in steps of 2, inside of a loop that stays and around another.
  const auto state = expect_correct(*columns, {along("y")});
  says(state, "const int j = 1 + (int)(blockIdx.y * blockDim.y + threadIdx.y) * 2;");
  expect_refusal(*columns, fold(), "neither a number nor a product of parameters");
  expect_correct(*columns, {fold("2")});
  // Not at all at some size, though it is launched.
  const auto kernel = case_of("    for (int k = 8; k < m; ++k) b[t * m + k] = 1.0f;");
  ASSERT_TRUE(kernel.ok());
  const auto rarely = expect_correct(**kernel, {along("y")});
  EXPECT_EQ(rarely.plan.launches[0].grid[1].text(), "cdiv(max(1, m - 8), by)");
}

TEST(ParallelLoop, StandsInLoopsOfUnknownLength) {
  const auto kernel = sample("planes_by_a_stride_of_the_grid");
  ASSERT_NE(kernel, nullptr);
  const auto state = expect_correct(*kernel, {along("y")});
  EXPECT_EQ(state.plan.launches[0].block, (Dim3{64, 4, 1}));
  expect_refusal(*kernel, fold(), "gridDim.x would change its meaning");
  // Rounds overlap, or come between the iterations.
  expect_body_refused(
      "    for (int q = 0; q < m / 2; q += m / 4)\n"
      "      for (int k = 0; k < 4; ++k) b[t * m + 2 * q + k] += 1;",
      "several iterations may touch");
}

TEST(ParallelLoop, SplitsTheWorkOfASingleThread) {
  const auto kernel = sample("one_thread_for_all");
  ASSERT_NE(kernel, nullptr);
  const auto state = expect_correct(*kernel, {along("y"), along("x")});
  EXPECT_EQ(state.plan.launches[0].grid[0].text(), "cdiv(n, bx)");
  expect_refusal(*kernel, moved("y"), "does not use the x axis");
}

TEST(ParallelLoop, LeavesOutBlocksThatDoNothing) {
  const auto state = expect_correct(*sample("chunk_a_thread"), {fold()});
  EXPECT_EQ(state.plan.launches[0].grid[0].text(), "cdiv(n, bx)");
  says(state, "int at = thread;");
  EXPECT_EQ(source::print(state.unit).find("int k"), std::string::npos);
  // Without a guard of its own every thread that was there stays.
  const auto counting = expect_correct(*sample("samples_counted_by_a_thread"), {fold()});
  EXPECT_EQ(counting.plan.launches[0].grid[0].text(), "8 * cdiv(n, 8 * bx)");
}

TEST(ParallelLoop, ProvesThatIterationsMeetNowhere) {
  expect_body_done("    for (int k = 0; k < m; ++k) b[t * m + k] += a[t * m + m - 1 - k];");
  expect_body_done("    for (int k = 0; k < m; ++k) b[t * m + (m - 1 - k)] = a[t * m + k];");
  expect_body_done(
      "    for (int k = 0; k < 4; ++k) { b[t * m + 2 * k] = 1; b[t * m + 2 * k + 1] = 2; }");
  expect_body_done(
      "    for (int k = 0; k < 4; ++k)\n      for (int q = 0; q <= k % 2; ++q) b[t * m + k] += q;",
      along("y"));
  expect_body_done(
      "    for (int k = 0; k < 2; ++k)\n"
      "      for (int q = 0; q < 4; ++q) b[t * m + 4 * k + q] = b[t * m + 4 * k + 3 - q] + q;",
      along("y"));
  // Halves that do not touch each other.
  expect_body_done("    for (int k = 0; k < 4; ++k) { b[t * m + k] = b[t * m + k + 4]; }");
}

TEST(ParallelLoop, RefusesIterationsThatMeet) {
  const std::string meet = "several iterations may touch an element of 'b'";
  expect_body_refused("    for (int k = 0; k < m; ++k) b[t] += a[t * m + k] * k;",
                      "carries a value");
  expect_body_refused("    for (int k = 1; k < m; ++k) b[t * m + k] = b[t * m + k - 1] + 1;",
                      "carries a value");
  expect_body_refused("    for (int k = 2; k < m; ++k) b[t * m + k] = b[t * m + k - 2] + 1;", meet);
  expect_body_refused("    for (int k = 0; k < m; ++k) b[t * m + k / 2] = k;", "no polynomial");
  expect_body_refused("    for (int k = 0; k < m; ++k) b[t * m + (c[t * m + k] & 7)] = k;",
                      "no polynomial");
  expect_body_refused(
      "    for (int k = 0; k < 5; ++k)\n      for (int q = 0; q < 4; ++q) b[t * m + k + q] = q;",
      meet);
  expect_body_refused("    for (int k = 0; k < 4; ++k) { b[t * m + k] = b[t * m + k + 3]; }", meet);
  expect_body_refused(
      "    for (int k = 0; k < 3; ++k)\n      for (int q = 0; q < 3; ++q) b[t * m + 2 * k + q] = "
      "q;",
      meet);
}

TEST(ParallelLoop, RefusesWhatHasAnOrder) {
  expect_body_refused(
      "    float last = 0;\n    for (int k = 0; k < m; ++k) { b[t * m + k] = last; last = a[t * m "
      "+ k]; }",
      "'last' carries a value");
  expect_body_refused(
      "    float kept[16];\n    for (int k = 0; k < 8; ++k) { kept[k] = a[t * m + k]; b[t * m + k] "
      "= "
      "kept[k / 2]; }",
      "'kept' carries a value");
  expect_body_refused(
      "    for (int k = 0; k < m; ++k) { if (a[t * m + k] > 2) break; b[t * m + k] = 1; }",
      "an iteration may end early");
  expect_body_refused("    for (int k = 0; k < m; ++k) b[t * m + k] = atomicAdd(&c[t], 1);",
                      "calls 'atomicAdd'");
  expect_body_refused("    for (int k = 0; k < m; ++k) atomicExch(&c[t], k);",
                      "'atomicExch', whose effects have an order");
  expect_body_refused(
      "    for (int k = 0; k < m; ++k) { atomicAdd(&c[t], k); atomicMax(&c[t], k); }",
      "more than one kind of atomic");
  expect_body_refused("    for (int k = 0; k < m; ++k) atomicAdd(&b[t], a[t * m + k]);",
                      "reassociate", "{noalias: true, reassociate: false}");
  expect_body_done("    for (int k = 0; k < m; ++k) atomicAdd(&c[t], k);");
}

TEST(ParallelLoop, RefusesWhatStandsOutside) {
  expect_body_refused("    c[t] = 1;\n    for (int k = 0; k < m; ++k) b[t * m + k] = 1;",
                      "in line 4 what a thread writes besides would be written by several");
  expect_body_refused("    if (b[t * m] > 0)\n      for (int k = 0; k < m; ++k) b[t * m + k] = 1;",
                      "'b' is used outside of the loop");
  expect_body_refused(
      "    float s = 0;\n    for (int k = 0; k < m; ++k) s += a[t * m + k];\n"
      "    for (int k = 0; k < m; ++k) b[t * m + k] = s;",
      "'s' carries a value");
  expect_body_refused("    atomicAdd(&c[0], 1);\n    for (int k = 0; k < m; ++k) b[t * m + k] = 1;",
                      "'atomicAdd' would be called by several threads");
}

TEST(ParallelLoop, RefusesBoundsAndLaunchesThatDoNotSuit) {
  expect_body_refused(
      "    int most = c[t] & 7;\n    for (int k = 0; k < most; ++k) b[t * m + k] = 1;",
      "its bounds are not made of the kernel's parameters alone");
  expect_body_refused("    for (int k = 0; k < 1; ++k) b[t * m + k] = 1;", "only one iteration");
  expect_body_refused("    for (int k = m - 1; k >= 0; k--) b[t * m + k] = 1;",
                      "not a loop that counts up");
  expect_body_refused("    for (int k = 0; k < m; ++k) b[t * m + k] = 1;", "noalias",
                      "{noalias: false}");
  expect_body_refused("    for (int k = 0; k < m; ++k) b[k * n + t] = 1;", "suits another axis");
  expect_body_done("    for (int k = 0; k < m; ++k) b[k * n + t] = 1;", along("z"));
  expect_body_refused("    int k = threadIdx.x;\n    for (int q = 0; q < m; ++q) b[t * m + q] = k;",
                      "x position within the block");
  const auto kernel = sample("channels_of_a_pixel");
  expect_refusal(*kernel, along("y"), "uses the y axis already");
  expect_refusal(*kernel, along("z", "2"), "only 1 of the kernel's loops");
  expect_correct(*kernel, {along("z")});
  expect_refusal(*sample("sum_sequential_tree"), fold(), "work together already");
  expect_refusal(*sample("saxpy_return"), fold(), "the kernel has no loop");
  EXPECT_FALSE(kernel->apply(kernel->original(), "parallel_loop", {{"axis", "w"}, {"loop", "1"}}));
}

TEST(ParallelLoop, KeepsThreadsBelowTwoToThe31) {
  const auto kernel = KernelCase::make(
      "__global__ void f(float* b, int n) {\n  int t = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (t < n) for (int k = 0; k < 4096; ++k) b[(size_t)t * 4096 + k] = 1;\n}",
      "sizes: {n: 1048576}\nargs: {b: {dir: out, shape: [n, 4096]}}\n"
      "launch: {block: 256, grid: 'cdiv(n, bx)'}\ntests: [{n: 3}]\nbench: [{n: 1048576}]\n");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_refusal(**kernel, fold(), "would not fit 32 bits");
}

}  // namespace
}  // namespace regraph::test::parallel_loop_test
