// linearize: grids of several axes that become one of flat indices.
#include "rewrite/step_checks.h"

namespace regraph::test::linearize_test {
namespace {

const Application kFlat = {"linearize", {}};

Result<std::unique_ptr<KernelCase>> case_of(const std::string& body, const std::string& launch) {
  return KernelCase::make(
      "__global__ void f(const float* a, float* b, int c, int h, int w) {\n" + body + "\n}",
      "sizes: {c: 6, h: 7, w: 40}\nargs:\n  a: {dir: in, shape: [c, h, w]}\n"
      "  b: {dir: inout, shape: [c, h, w]}\nlaunch: " +
          launch + "\ntests: [{c: 6, h: 7, w: 40}, {c: 3, h: 4, w: 32}, {c: 1, h: 1, w: 1}]\n");
}

const std::string kPlanes = "{block: [16, 4], grid: ['cdiv(w, bx)', 'cdiv(h, by)', 'c']}";
const std::string kIndices =
    "int x = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "int y = blockIdx.y * blockDim.y + threadIdx.y;\n";

void expect_body_refused(const std::string& body, const std::string& reason,
                         const std::string& launch = kPlanes) {
  SCOPED_TRACE(body);
  const auto kernel = case_of(body, launch);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_refusal(**kernel, kFlat, reason);
}

TEST(Linearize, MakesOneAxis) {
  for (const char* body :
       {"int z = blockIdx.z; if (x < w && y < h) b[(z * w + x) * h + y] = a[(z * h + y) * w + x];",
        "int z = blockIdx.z; if (x >= w || y >= h) return; int i = (z * h + y) * w + x;"
        " b[i] += a[i] * x + y;",
        "int half = blockIdx.z / 2; int odd = blockIdx.z % 2; if (x < w && y < h && (x > 2 || odd))"
        " b[(blockIdx.z * h + y) * w + x] = a[(blockIdx.z * h + y) * w + x] + half + odd;"}) {
    SCOPED_TRACE(body);
    const auto kernel = case_of(kIndices + body, kPlanes);
    ASSERT_TRUE(kernel.ok()) << kernel.error().message;
    const auto flat = expect_correct(**kernel, {kFlat});
    const Launch& launch = flat.plan.launches[0];
    EXPECT_EQ(launch.block, (Dim3{64, 1, 1}));
    EXPECT_EQ(launch.grid[0].text(), "cdiv(c * h * w, bx)");
    EXPECT_EQ(launch.grid[1].text(), "1");
    EXPECT_EQ(launch.grid[2].text(), "1");
  }
}

TEST(Linearize, IsTakenApartAgain) {
  const auto kernel =
      case_of(kIndices +
                  "int z = blockIdx.z; if (x < w && y < h) b[(y * w + x) * c + z] = "
                  "a[(z * h + y) * w + x];",
              kPlanes);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const auto split =
      expect_correct(**kernel, {kFlat, {"delinearize", {{"axis", "x"}, {"dimensions", "2"}}}});
  const std::string code = source::print(split.unit);
  EXPECT_EQ(code.find('%'), std::string::npos) << code;
  EXPECT_EQ(split.plan.launches[0].grid[0].text(), "cdiv(h * w, bx)");
  expect_correct(**kernel, {{"tiled_transpose", {{"dimensions", "2"}, {"rows", "2"}}}});
}

TEST(Linearize, Refuses) {
  const std::string work = "if (x < w && y < h) b[(blockIdx.z * h + y) * w + x] = a[x];";
  expect_body_refused(kIndices + "if (x < w - 1 && y < h) b[y * w + x] = a[x] + blockIdx.z * 0;",
                      "no guard around all work ends with the grid along x");
  expect_body_refused(kIndices + "if (x < w && y < h) b[y * w + x] = a[x] + threadIdx.x;",
                      "uses the x position within the block",
                      "{block: [16, 4], grid: ['cdiv(w, bx)', 'cdiv(h, by)']}");
  expect_body_refused(kIndices + "if (x < w && y < h) b[y * w + x] = a[x];",
                      "several threads along z do the same");
  expect_body_refused("int x = blockIdx.x * blockDim.x + threadIdx.x; if (x < w) b[x] = a[x];",
                      "the grid has no more than one axis", "{block: 64, grid: 'cdiv(w, bx)'}");
  expect_body_refused(
      "__shared__ float s[64]; s[threadIdx.x] = 1.0f; __syncthreads();\n" + kIndices + work,
      "work together already");
}

}  // namespace
}  // namespace regraph::test::linearize_test
