// Values of a row's elements that a later loop takes from registers.
#include "rewrite/analysis/kept_values.h"

#include "rewrite/step_checks.h"

namespace regraph::test::kept_values_test {
namespace {

constexpr const char* kMaximum =
    "  float m = -INFINITY;\n  for (int c = 0; c < cols; ++c) m = fmaxf(m, x[row * cols + c]);\n";
constexpr const char* kSum =
    "  float sum = 0.0f;\n  for (int c = 0; c < cols; ++c) sum += expf(x[row * cols + c] - m);\n";

// The code of rows of 1024 elements that 64 threads share.
std::string shared(const std::string& body, const std::string& written = "y") {
  auto kernel = KernelCase::make(
      "__global__ void f(" + std::string(written == "y" ? "const " : "") +
          "float* x, float* y, int rows, int cols) {\n"
          "  int row = blockIdx.x * blockDim.x + threadIdx.x;\n  if (row >= rows) return;\n" +
          body + "}",
      "sizes: {rows: 512, cols: 1024}\nargs: {x: {dir: " +
          std::string(written == "y" ? "in" : "inout") +
          ", shape: [rows, cols]}, y: {dir: inout, shape: [rows, cols]}}\n"
          "launch: {block: 64, grid: 'cdiv(rows, bx)'}\n"
          "tests: [{rows: 70, cols: 132}, {rows: 9, cols: 45}, {rows: 3, cols: 1200}, {rows: 2, "
          "cols: 1024}]\n");
  EXPECT_TRUE(kernel.ok()) << (kernel.ok() ? "" : kernel.error().message);
  if (!kernel) return "";
  const auto state = expect_correct(
      **kernel, {{"cross_thread_reduction",
                  {{"threads_per_row", "64"}, {"rows_per_block", "1"}, {"width", "4"}}}});
  return source::print(state.unit);
}

int count(const std::string& text, const std::string& part) {
  int result = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++result;
  return result;
}

TEST(KeptValues, ExponentialsOfASoftmaxAreComputedOnce) {
  const std::string code = shared(
      std::string(kMaximum) + kSum +
      "  for (int i = 0; i < cols; ++i) y[row * cols + i] = expf(x[row * cols + i] - m) / sum;\n");
  expect_text(code, "float kept[4][4];");
  expect_text(code, "kept[vector][place] = expf(x_values[vector][place] - m);");
  expect_text(code, "sum += kept[vector][place];");
  expect_text(code, "= kept[vector][place] / sum;");
  // Once by vectors, and twice where rows are taken by elements.
  EXPECT_EQ(count(code, "expf("), 3) << code;
}

TEST(KeptValues, LocalsAreWhatTheyStandFor) {
  const std::string code = shared(
      std::string(kMaximum) +
      "  float sum = 0.0f;\n"
      "  for (int c = 0; c < cols; ++c) {\n    float d = x[row * cols + c] - m;\n"
      "    float e = expf(d);\n    if (e > 0.5f) sum += e;\n  }\n"
      "  for (int c = 0; c < cols; ++c) y[row * cols + c] = expf(x[row * cols + c] - m) * sum;\n");
  expect_text(code, "kept[vector][place] * sum");
}

TEST(KeptValues, ElementsThatAreOverwrittenCount) {
  // The last loop reads each element before it writes it.
  expect_text(shared(std::string(kMaximum) + kSum +
                         "  for (int c = 0; c < cols; ++c) x[row * cols + c] = "
                         "expf(x[row * cols + c] - m) / sum;\n",
                     "x"),
              "kept[vector][place] / sum");
  // Here it has written it, and here an earlier loop has.
  expect_no_text(shared(std::string(kMaximum) + kSum +
                            "  for (int c = 0; c < cols; ++c) {\n    x[row * cols + c] *= 0.5f;\n"
                            "    y[row * cols + c] = expf(x[row * cols + c] - m) / sum;\n  }\n",
                        "x"),
                 "kept");
  expect_no_text(shared(std::string(kMaximum) + kSum +
                            "  for (int c = 0; c < cols; ++c) x[row * cols + c] *= 0.5f;\n"
                            "  for (int c = 0; c < cols; ++c) y[row * cols + c] = "
                            "expf(x[row * cols + c] - m) / sum;\n",
                        "x"),
                 "kept");
}

TEST(KeptValues, WhatChangesInBetweenIsComputedAgain) {
  expect_no_text(shared(std::string(kMaximum) + kSum +
                        "  m += logf(sum);\n"
                        "  for (int c = 0; c < cols; ++c) y[row * cols + c] = "
                        "expf(x[row * cols + c] - m);\n"),
                 "kept");
}

// A value that only some elements have, or that costs no more than a move, is not kept.
TEST(KeptValues, OnlyWhatEveryElementHasAndCosts) {
  expect_no_text(
      shared(std::string(kMaximum) +
             "  float sum = 0.0f;\n  for (int c = 0; c < cols; ++c)\n"
             "    sum += x[row * cols + c] > 0.0f ? expf(x[row * cols + c] - m) : 0.0f;\n"
             "  for (int c = 0; c < cols; ++c) y[row * cols + c] = expf(x[row * cols + c] - m) / "
             "sum;\n"),
      "kept");
  expect_no_text(shared(std::string(kMaximum) + "  float sum = 0.0f;\n  for (int c = 0; c < cols; "
                                                "++c) sum += fabsf(x[row * cols + c] - m);\n"
                                                "  for (int c = 0; c < cols; ++c) y[row * cols + "
                                                "c] = fabsf(x[row * cols + c] - m) / sum;\n"),
                 "kept");
}

// Of several loops each takes it; another array's elements are other values.
TEST(KeptValues, SeveralLoopsTakeIt) {
  const std::string code = shared(
      std::string(kMaximum) + kSum +
      "  float most = 0.0f;\n"
      "  for (int c = 0; c < cols; ++c) most = fmaxf(most, expf(x[row * cols + c] - m) / sum);\n"
      "  for (int c = 0; c < cols; ++c) y[row * cols + c] = expf(x[row * cols + c] - m) / sum / "
      "most "
      "+ expf(y[row * cols + c] - m);\n");
  EXPECT_EQ(count(code, "float kept"), 2) << code;
  expect_text(code, "expf(y_values[vector][place] - m)");
}

}  // namespace
}  // namespace regraph::test::kept_values_test
