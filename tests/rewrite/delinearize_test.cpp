// delinearize: flat indices that become indices along axes.
#include "rewrite/step_checks.h"

namespace regraph::test::delinearize_test {
namespace {

Application split(const char* axis = "x", const char* dimensions = "1") {
  return {"delinearize", {{"axis", axis}, {"dimensions", dimensions}}};
}

bool says(const rewrite::KernelState& state, const std::string& text) {
  const std::string code = source::print(state.unit);
  EXPECT_NE(code.find(text), std::string::npos) << "no '" << text << "' in\n" << code;
  return code.find(text) != std::string::npos;
}

// A kernel of images a and b of c * h * w elements.
Result<std::unique_ptr<KernelCase>> case_of(const std::string& body) {
  return KernelCase::make(
      "__global__ void f(const float* a, float* b, int c, int h, int w) {\n" + body + "\n}",
      "sizes: {c: 5, h: 7, w: 40}\nargs:\n  a: {dir: in, shape: [c, h, w]}\n"
      "  b: {dir: inout, shape: [c, h, w]}\n"
      "launch: {block: 64, grid: 'cdiv(c * h * w, bx)'}\n"
      "tests: [{c: 5, h: 7, w: 40}, {c: 3, h: 4, w: 32}, {c: 1, h: 1, w: 1}]\n");
}

constexpr const char* kImages = R"~(
  int i = blockIdx.x * 64 + threadIdx.x;
  if (i >= c * h * w) return;
  int x = i % w;
  int rows = i / w;
  int y = rows % h;
  int image = rows / h;
  b[(image * w + x) * h + y] = a[i] + y;)~";

void expect_body_refused(const std::string& body, const std::string& reason,
                         const Application& step = split()) {
  SCOPED_TRACE(body);
  const auto kernel = case_of(body);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_refusal(**kernel, step, reason);
}

TEST(Delinearize, GivesRowsAndColumnsAxes) {
  const auto kernel = case_of(kImages);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const auto rows = expect_correct(**kernel, {split()});
  EXPECT_EQ(rows.plan.launches[0].grid[0].text(), "cdiv(w, bx)");
  EXPECT_EQ(rows.plan.launches[0].grid[1].text(), "cdiv(c * h, by)");
  EXPECT_EQ(rows.plan.launches[0].block, (Dim3{32, 2, 1}));
  says(rows, "if (column < w && row < c * h)");
  const auto planes = expect_correct(**kernel, {split(), split("y")});
  EXPECT_EQ(planes.plan.launches[0].grid[2].text(), "cdiv(c, bz)");
  says(planes, "int image = plane;");
}

TEST(Delinearize, TakesTwoSizesAsOneColumn) {
  const auto kernel = case_of(kImages);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const auto flat = expect_correct(**kernel, {split("x", "2")});
  EXPECT_EQ(flat.plan.launches[0].grid[0].text(), "cdiv(h * w, bx)");
  says(flat, "int image = row;");
  says(flat, "column % w");
}

// Sizes that are no polynomials of parameters, by the kernel's names for them, which may come
// behind the index.
TEST(Delinearize, KnowsNamesForSizes) {
  const auto kernel = sample("halved_pooling");
  ASSERT_NE(kernel, nullptr);
  const auto rows = expect_correct(*kernel, {split()});
  EXPECT_EQ(rows.plan.launches[0].grid[0].text(), "cdiv((width + 1) / 2, bx)");
  EXPECT_EQ(rows.plan.launches[0].grid[1].text(), "cdiv(channels * ((height + 1) / 2), by)");
  says(rows, "if (column < out_width && row < channels * out_height)");
  const auto planes = expect_correct(*kernel, {split(), split("y")});
  EXPECT_EQ(planes.plan.launches[0].grid[2].text(), "cdiv(channels, bz)");
  expect_correct(*kernel, {split("x", "2")});
  // A name for something else is no size.
  expect_body_refused(R"~(
  int i = blockIdx.x * 64 + threadIdx.x;
  int part = (int)a[0] + 2;
  if (i >= c * h * w) return;
  b[i] = a[i] + i % part;)~",
                      "not taken apart by / and % of a size");
}

TEST(Delinearize, KnowsDifferencesOfSizes) {
  // A convolution's output, by sizes that the kernel computes.
  const auto make = [](const std::string& tests) {
    return KernelCase::make(
        R"~(
__global__ void f(const float* a, float* b, int c, int h, int w, int k) {
  int oh = h - k + 1, ow = w - k + 1;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= c * oh * ow) return;
  int x = i % ow;
  int y = (i / ow) % oh;
  int image = i / (oh * ow);
  float sum = 0.0f;
  for (int t = 0; t < k; ++t) sum += a[(image * h + y + t) * w + x + t];
  b[i] = sum;
})~",
        "sizes: {c: 5, h: 9, w: 40, k: 3}\nargs:\n  a: {dir: in, shape: [c, h, w]}\n"
        "  b: {dir: inout, shape: [c, 'h - k + 1', 'w - k + 1']}\n"
        "launch: {block: 64, grid: 'cdiv(c * (h - k + 1) * (w - k + 1), bx)'}\n" +
            tests);
  };
  const auto kernel =
      make("tests: [{c: 5, h: 9, w: 40}, {c: 3, h: 4, w: 32}, {c: 1, h: 3, w: 3}]\n");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const auto pixels = expect_correct(**kernel, {split("x", "2")});
  says(pixels, "row < c");
  says(pixels, "int image = row;");
  const auto rows = expect_correct(**kernel, {split()});
  says(rows, "int x = column;");
  expect_correct(**kernel, {split(), split("y")});
}

TEST(Delinearize, LeavesAnAxisFree) {
  const auto kernel = case_of(kImages);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  Application planes = split("x", "2");
  planes.parameters["to"] = "z";
  const auto images = expect_correct(**kernel, {planes});
  EXPECT_EQ(images.plan.launches[0].grid[2].text(), "cdiv(c, bz)");
  EXPECT_EQ(images.plan.launches[0].block, (Dim3{32, 1, 2}));
  const auto rows = expect_correct(**kernel, {planes, split()});
  EXPECT_EQ(rows.plan.launches[0].grid[0].text(), "cdiv(w, bx)");
  EXPECT_EQ(rows.plan.launches[0].grid[1].text(), "cdiv(h, by)");
  says(rows, "int image = plane;");
  planes.parameters["to"] = "y";
  const auto refused = (*kernel)->apply((*kernel)->original(), planes.step, planes.parameters);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, "'to' must be z");
}

TEST(Delinearize, SeesRemaindersAsDifferences) {
  const auto kernel = case_of(R"~(
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < c * h * w) {
    int row = i / w;
    int x = i - row * w;
    b[x * c * h + row] = a[i];
  })~");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  says(expect_correct(**kernel, {split()}), "int x = column;");
}

TEST(Delinearize, LeadsToTiles) {
  const auto kernel = case_of(R"~(
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < c * h * w) b[i % w * (c * h) + i / w] = a[i];)~");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_correct(**kernel, {split(), {"block_size", {{"block", "16x16"}}}, {"smem_transpose", {}}});
}

// Numbers that are factors of each other, and what is beyond the divisor.
TEST(Delinearize, FollowsDivisionsByNumbers) {
  const char* body = R"~(
  unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < c * h * w) {
    unsigned int group = i / 8;
    b[i] = a[i] + group % 4 + i % 8 * (i / 32) + i / 2 % 8 + i / 64;
  })~";
  for (const char* dimensions : {"1", "2", "3", "4", "5"}) {
    SCOPED_TRACE(dimensions);
    const auto kernel = case_of(body);
    ASSERT_TRUE(kernel.ok()) << kernel.error().message;
    expect_correct(**kernel, {split("x", dimensions)});
  }
}

// Quotients that are no whole numbers, or are cut.
TEST(Delinearize, LeavesOtherDivisions) {
  const auto kernel = case_of(R"~(
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < c * h * w) {
    float part = i;
    unsigned char byte = i;
    b[i] = a[i] + part / w + byte / 7 + i % w;
  })~");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_correct(**kernel, {split()});
}

TEST(Delinearize, Refuses) {
  const std::string index = "int i = blockIdx.x * blockDim.x + threadIdx.x;";
  expect_body_refused(index + "if (i < c * h * w) b[i] = a[i];",
                      "is not taken apart by / and % of a size");
  expect_body_refused(index + "if (i < c * h * w) b[i] = a[i / w] + i % h;",
                      "of which none divides the other");
  expect_body_refused(index + "if (i % (c * h * w) == i) b[i] = a[i / w];",
                      "no guard stops threads whose index is beyond the grid");
  expect_body_refused(index + "if (i < c * h * w) b[i] = a[i / w] + threadIdx.x;",
                      "uses the x position within the block");
  expect_body_refused(index + "if (i < c * h * w) b[i] = a[i / w];", "divided by only 1 numbers",
                      split("x", "2"));
  expect_body_refused(
      "__shared__ float s[64];" + index +
          "s[threadIdx.x] = 1; __syncthreads(); if (i < c * h * w) b[i] = a[i / w];",
      "work together already");
}

// An early result is written under another condition than the guard.
TEST(Delinearize, KeepsOtherGuards) {
  const auto kernel = case_of(R"~(
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int x = i % w;
  if (i < c * h * w - 3 && x > 1) b[i] = a[i] + x;)~");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_correct(**kernel, {split()});
}

}  // namespace
}  // namespace regraph::test::delinearize_test
