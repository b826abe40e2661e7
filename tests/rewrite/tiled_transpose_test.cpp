// tiled_transpose: permutations of axes through tiles.
#include "rewrite/step_checks.h"

namespace regraph::test::tiled_transpose_test {
namespace {

Application tiled(const char* dimensions = "1", const char* rows = "4") {
  return {"tiled_transpose", {{"dimensions", dimensions}, {"rows", rows}}};
}

TEST(TiledTranspose, TakesFlatIndices) {
  const auto kernel = KernelCase::make(
      "__global__ void f(const float* a, float* b, int images, int channels, int h, int w) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i >= images * channels * h * w) return;\n"
      "  int x = i % w;\n  int r = i / w;\n  int y = r % h;\n  int p = r / h;\n"
      "  int c = p % channels;\n  int image = p / channels;\n"
      "  b[((image * h + y) * w + x) * channels + c] = a[i];\n}",
      "sizes: {images: 3, channels: 40, h: 6, w: 9}\nargs:\n"
      "  a: {dir: in, shape: [images, channels, h, w]}\n"
      "  b: {dir: out, shape: [images, h, w, channels]}\n"
      "launch: {block: 256, grid: 'cdiv(images * channels * h * w, bx)'}\n"
      "tests: [{images: 3, channels: 40, h: 6, w: 9}, {images: 1, channels: 64, h: 4, w: 16}, "
      "{images: 1, channels: 1, h: 1, w: 1}]\n");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const auto moved = expect_correct(**kernel, {tiled("2")});
  EXPECT_EQ(moved.plan.launches[0].grid[0].text(), "cdiv(h * w, bx)");
  EXPECT_NE(source::print(moved.unit).find("[33]"), std::string::npos);
  // Rows of an image lie side by side in both, so that columns alone are no transposition.
  expect_refusal(**kernel, tiled("1"), "smem_transpose: ");
}

TEST(TiledTranspose, TakesIndicesOfWhatIsWritten) {
  for (const char* name : {"record_of_extents", "coordinates_in_an_array"}) {
    SCOPED_TRACE(name);
    const auto kernel = sample(name);
    ASSERT_NE(kernel, nullptr);
    const auto moved = expect_correct(*kernel, {tiled("2", "2")});
    EXPECT_EQ(moved.plan.launches[0].grid[0].text(), "cdiv(h * w, bx)");
    EXPECT_NE(source::print(moved.unit).find("[33]"), std::string::npos);
  }
}

TEST(TiledTranspose, TakesViews) {
  const auto kernel = sample("views_with_strides");
  ASSERT_NE(kernel, nullptr);
  expect_correct(*kernel, {tiled("1", "4")});
}

TEST(TiledTranspose, TakesMatrices) {
  const auto kernel = sample("transpose_return");
  ASSERT_NE(kernel, nullptr);
  expect_correct(*kernel, {tiled("1", "8")});
  expect_refusal(*kernel, tiled("2"), "not taken apart by several sizes");
}

}  // namespace
}  // namespace regraph::test::tiled_transpose_test
