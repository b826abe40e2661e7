// Steps for stencils and convolutions.
#include "rewrite/step_checks.h"

namespace regraph::test::neighbourhood_steps_test {
namespace {

TEST(SmemHalo, StagesNeighbourhoodsOfManyShapes) {
  for (const char* name : {"three_point_stencil", "window_sum", "convolution_5x5",
                           "five_point_stencil", "padded_jacobi", "fixed_width_blur"}) {
    SCOPED_TRACE(name);
    const auto kernel = sample(name);
    ASSERT_NE(kernel, nullptr);
    expect_correct(*kernel, {{"smem_halo", {}}});
    expect_correct(*kernel,
                   {{"thread_coarsen", {{"axis", "x"}, {"factor", "2"}}}, {"smem_halo", {}}});
    expect_correct(*kernel,
                   {{"smem_halo", {}}, {"thread_coarsen", {{"axis", "x"}, {"factor", "4"}}}});
  }
}

TEST(SmemHalo, TileIsTheBlockAndItsRim) {
  const auto convolution = sample("convolution_5x5");
  const auto state = expect_correct(*convolution, {{"smem_halo", {}}});
  EXPECT_NE(source::print(state.unit).find("float in_tile[20][20]"), std::string::npos);
  const auto jacobi = sample("padded_jacobi");
  const auto padded = expect_correct(*jacobi, {{"smem_halo", {}}});
  EXPECT_NE(source::print(padded.unit).find("double in_tile[10][34]"), std::string::npos);
}

TEST(SmemHalo, RefusesWithAReason) {
  expect_refusal(*sample("saxpy_return"), {"smem_halo", {}}, "no neighbours");
  expect_refusal(*sample("matmul_guard"), {"smem_halo", {}}, "no constant range");
  expect_refusal(*sample("axpy_in_place"), {"smem_halo", {}}, "no neighbours");
  const auto kernel = sample("five_point_stencil");
  const auto state = expect_correct(*kernel, {{"smem_halo", {}}});
  expect_refusal(*kernel, state, {"smem_halo", {}}, "no array's neighbourhood");
  auto clamped = KernelCase::make(
      "__global__ void f(const float* a, float* b, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) b[i] = a[max(i - 1, 0)] + a[min(i + 1, n - 1)];\n}",
      "sizes: {n: 100}\nargs: {a: {dir: in, shape: [n]}, b: {dir: out, shape: [n]}}\n"
      "launch: {block: 64, grid: 'cdiv(n, bx)'}\n");
  ASSERT_TRUE(clamped.ok()) << clamped.error().message;
  expect_refusal(**clamped, {"smem_halo", {}}, "not a polynomial");
}

}  // namespace
}  // namespace regraph::test::neighbourhood_steps_test
