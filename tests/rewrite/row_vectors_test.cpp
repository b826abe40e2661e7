#include "rewrite/analysis/row_vectors.h"

#include "rewrite/step_checks.h"

namespace regraph::test::row_vectors_test {
namespace {

Application vectors(const char* threads, const char* rows) {
  return {"cross_thread_reduction",
          {{"threads_per_row", threads}, {"rows_per_block", rows}, {"width", "4"}}};
}

// Rows of `cols` elements, at sizes that four divides and that it does not, and longer than the
// rows of the sizes that count.
Result<std::unique_ptr<KernelCase>> rows(const std::string& body, const std::string& cols = "1024",
                                         const std::string& assume = "{}",
                                         const std::string& type = "int") {
  return KernelCase::make(
      "__global__ void f(const float* x, float* y, int rows, " + type +
          " cols) {\n"
          "  int row = blockIdx.x * blockDim.x + threadIdx.x;\n  if (row >= rows) return;\n" +
          body + "}",
      "sizes: {rows: 512, cols: " + cols +
          "}\nargs: {x: {dir: in, shape: [rows, cols]}, y: {dir: inout, shape: [rows, cols]}}\n"
          "launch: {block: 64, grid: 'cdiv(rows, bx)'}\n"
          "tests: [{rows: 70, cols: 132}, {rows: 9, cols: 45}, {rows: 3, cols: 1200}, {rows: 2, "
          "cols: 1203},\n"
          "  {rows: 1, cols: 1}]\nassume: " +
          assume + "\n");
}

constexpr const char* kScale =
    "  float sum = 0.0f;\n  for (int c = 0; c < cols; ++c) sum += fabsf(x[row * cols + c]);\n"
    "  for (int c = 0; c < cols; ++c) y[row * cols + c] = x[row * cols + c] / (sum + 1.0f);\n";

TEST(RowVectors, KeepRowsInRegisters) {
  auto kernel = rows(kScale);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const auto state = expect_correct(**kernel, {vectors("64", "1")});
  const std::string text = source::print(state.unit);
  EXPECT_NE(text.find("cols % 4 == 0 && cols <= 1024"), std::string::npos) << text;
  EXPECT_NE(text.find("x_values[4][4]"), std::string::npos) << text;
  // x is loaded once.
  const std::size_t load = text.find("float4 x_vector");
  ASSERT_NE(load, std::string::npos) << text;
  EXPECT_EQ(text.find("float4 x_vector", load + 1), std::string::npos) << text;
  expect_correct(**kernel, {vectors("32", "4")});
  expect_correct(**kernel, {vectors("256", "1")});
}

// More than eight vectors a lane go by in a loop.
TEST(RowVectors, LongRowsGoBy) {
  auto kernel = rows(kScale, "4096");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const auto state = expect_correct(**kernel, {vectors("32", "2")});
  const std::string text = source::print(state.unit);
  EXPECT_EQ(text.find("cols <= "), std::string::npos) << text;
  EXPECT_NE(text.find("float4 x_vector"), std::string::npos) << text;
}

// Counters of 64 bits stay ones, also of the loop that goes by vectors.
TEST(RowVectors, CountersMayBeWide) {
  for (const char* type : {"long long", "size_t"}) {
    for (const char* cols : {"1024", "4096"}) {
      SCOPED_TRACE(std::string(type) + ' ' + cols);
      const std::string loop = std::string("  for (") + type + " c = 0; c < cols; ++c) ";
      auto kernel = rows("  float sum = 0.0f;\n" + loop + "sum += fabsf(x[row * cols + c]);\n" +
                             loop + "y[row * cols + c] = x[row * cols + c] / (sum + 1.0f);\n",
                         cols, "{}", type);
      ASSERT_TRUE(kernel.ok()) << kernel.error().message;
      expect_correct(**kernel, {vectors("64", "1")});
      const auto state = expect_correct(**kernel, {vectors("32", "4")});
      const std::string text = source::print(state.unit);
      const bool goes_by = std::string(cols) == "4096";
      EXPECT_EQ(text.find("for (long long first = ") != std::string::npos, goes_by) << text;
      expect_correct(**kernel, {{"cross_thread_reduction",
                                 {{"threads_per_row", "128"}, {"rows_per_block", "1"}}}});
      expect_correct(**kernel, {{"slice_reduction", {{"slices", "8"}}}});
    }
  }
}

// What is chosen, and what a scan has so far, is noted with 32 bits.
TEST(RowVectors, ChoicesAndScansWantNarrowCounters) {
  for (const char* body :
       {"  float best = x[row * cols];\n  int at = 0;\n"
        "  for (long long c = 1; c < cols; ++c) {\n    if (x[row * cols + c] > best) {\n"
        "      best = x[row * cols + c];\n      at = c;\n    }\n  }\n  y[row * cols] = at;\n",
        "  float sum = 0.0f;\n  for (long long c = 0; c < cols; ++c) {\n"
        "    sum += x[row * cols + c];\n    y[row * cols + c] = sum;\n  }\n"}) {
    auto kernel = rows(body, "1024", "{}", "long long");
    ASSERT_TRUE(kernel.ok()) << kernel.error().message;
    const bool scans = std::string(body).find("best") == std::string::npos;
    const Application step =
        scans ? Application{"cross_thread_scan",
                            {{"threads_per_row", "128"}, {"rows_per_block", "1"}, {"items", "4"}}}
              : vectors("32", "1");
    expect_refusal(**kernel, step, "its counter is no 32-bit integer");
  }
}

TEST(RowVectors, TakesRowsThatAreReadAndWritten) {
  for (const char* name : {"softmax_rows", "layernorm_pointers", "softmax_in_place", "row_sums"}) {
    SCOPED_TRACE(name);
    const auto kernel = sample(name);
    ASSERT_NE(kernel, nullptr);
    expect_correct(*kernel, {vectors("32", "4")});
    expect_correct(*kernel, {vectors("128", "1")});
  }
}

// What is read at two places, or under a condition, is read as it was.
TEST(RowVectors, LeavesArraysThatDoNotSuit) {
  auto kernel = rows(
      "  float sum = 0.0f;\n"
      "  for (int c = 0; c < cols; ++c)\n"
      "    sum += x[row * cols + c] + (c > 0 ? y[row * cols + c - 1] : 0.0f) + y[row * cols + c];\n"
      "  y[row * cols] = sum;\n",
      "1024", "{}");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_refusal(**kernel, vectors("32", "4"), "'y' is written");
  auto weights = rows(
      "  float sum = 0.0f;\n"
      "  for (int c = 0; c < cols; ++c) sum += x[row * cols + c] * (c > 0 ? x[c - 1] : 1.0f);\n"
      "  float total = 0.0f;\n"
      "  for (int c = 0; c < cols; ++c) total += y[row * cols + c];\n"
      "  y[row * cols] = sum + total;\n");
  ASSERT_TRUE(weights.ok()) << weights.error().message;
  expect_refusal(**weights, vectors("32", "4"), "y");
}

TEST(RowVectors, RefusesWithAReason) {
  auto guarded = rows(
      "  float sum = 0.0f;\n"
      "  for (int c = 0; c < cols; ++c) if (c % 2 == 0) sum += x[row * cols + c];\n  y[row * cols] "
      "= sum;\n");
  ASSERT_TRUE(guarded.ok()) << guarded.error().message;
  expect_refusal(**guarded, vectors("32", "4"), "no array is accessed at neighbouring places");
  auto odd = rows(
      "  float sum = 0.0f;\n  for (int c = 0; c < cols - 1; ++c) sum += x[row * cols + c];\n"
      "  y[row * cols] = sum;\n");
  ASSERT_TRUE(odd.ok()) << odd.error().message;
  expect_refusal(**odd, vectors("32", "4"), "no multiple of 4");
  auto different = rows(
      "  float sum = 0.0f;\n  for (int c = 0; c < cols; ++c) sum += x[row * cols + c];\n"
      "  for (int c = 0; c < rows; ++c) sum += x[c];\n  y[row * cols] = sum;\n");
  ASSERT_TRUE(different.ok()) << different.error().message;
  expect_refusal(**different, vectors("32", "4"), "do not all go over the same elements");
  expect_refusal(*sample("nearest_centre"), vectors("32", "4"),
                 "do not all go over the same elements");
  auto nearby = rows(kScale, "100");
  ASSERT_TRUE(nearby.ok()) << nearby.error().message;
  expect_refusal(**nearby, vectors("64", "1"), "only 100 elements");
  auto aligned = rows(kScale, "1024", "{align: 4}");
  ASSERT_TRUE(aligned.ok()) << aligned.error().message;
  expect_refusal(**aligned, vectors("64", "1"), "no array is accessed at neighbouring places");
  const auto kernel = sample("softmax_rows");
  const auto wrong =
      kernel->apply(kernel->original(), "cross_thread_reduction",
                    {{"threads_per_row", "32"}, {"rows_per_block", "4"}, {"width", "3"}});
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace regraph::test::row_vectors_test
