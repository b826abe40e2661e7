#include "loops/lower_to_kernel.h"

#include "base/files.h"
#include "loops/lowered.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace regraph::loops::lower_to_kernel_test {
namespace {

using test::lowered;
using test::refusal;

const std::string& functions() {
  static const std::string kText =
      *read_file(std::string(REGRAPH_SOURCE_DIR) + "/tests/loops/functions.cpp", 1 << 20);
  return kText;
}

std::string only_launch(const std::string& name) {
  const auto result = lowered(functions(), name);
  if (!result) return result.error().message;
  if (result->launches.size() != 1) return "several launches";
  const Launch& launch = result->launches.front();
  return launch.grid[0].text() + "; " + launch.grid[1].text() + "; " + launch.grid[2].text();
}

TEST(LowerToKernel, MakesThreadsOfParallelLoops) {
  EXPECT_EQ(only_launch("saxpy"), "cdiv(n, bx); 1; 1");
  EXPECT_EQ(only_launch("matrix_product"), "cdiv(n, bx); cdiv(m, by); 1");
  EXPECT_EQ(only_launch("matrix_product_rows"), "cdiv(m, bx); 1; 1");
  EXPECT_EQ(only_launch("stencil"), "cdiv(columns - 2, bx); cdiv(rows - 2, by); 1");
  EXPECT_EQ(only_launch("transpose"), "cdiv(columns, bx); cdiv(rows, by); 1");
  EXPECT_EQ(only_launch("row_softmax"), "cdiv(rows, bx); 1; 1");
  EXPECT_EQ(only_launch("triangle"), "cdiv(n, bx); cdiv(n, by); 1");
  EXPECT_EQ(only_launch("pairwise_distances"), "cdiv(count, bx); cdiv(count, by); 1");
  EXPECT_EQ(only_launch("blend"), "cdiv(128, bx); cdiv(256, by); 1");
  EXPECT_EQ(only_launch("column_sums"), "cdiv(columns, bx); 1; 1");
}

TEST(LowerToKernel, BringsSumsTogetherByAtomics) {
  const auto histogram = lowered(functions(), "histogram");
  ASSERT_TRUE(histogram) << histogram.error().message;
  EXPECT_NE(histogram->text.find("atomicAdd(&bins[values[i] % 64], 1)"), std::string::npos)
      << histogram->text;
  const auto dot = lowered(functions(), "dot_product");
  ASSERT_TRUE(dot) << dot.error().message;
  ASSERT_EQ(dot->launches.size(), 3U);
  EXPECT_EQ(dot->kernel, "dot_product_2");
  EXPECT_NE(dot->text.find("atomicAdd(&sum[0], x[i] * y[i])"), std::string::npos) << dot->text;
  Manifest exact;
  exact.assume.reassociate = false;
  const auto in_order = lowered(functions(), "dot_product", exact);
  ASSERT_FALSE(in_order);
  EXPECT_NE(in_order.error().message.find("assume.reassociate"), std::string::npos);
}

TEST(LowerToKernel, LaunchesSeveralNestsInOrder) {
  const auto center = lowered(functions(), "center");
  ASSERT_TRUE(center) << center.error().message;
  EXPECT_EQ(center->launches.size(), 4U);
  EXPECT_EQ(center->scratch.size(), 2U);
}

TEST(LowerToKernel, LeavesReductionsWithoutAnAtomicInOneThread) {
  const auto result = lowered(
      "long long f(const int* x, int n) {\n"
      "  long long s = 0;\n  for (int i = 0; i < n; ++i) s += x[i];\n  return s;\n}\n",
      "f");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->launches.size(), 1U);
  EXPECT_EQ(result->launches.front().block.count(), 1U);
}

TEST(LowerToKernel, NamesTheIterationsThatMeet) {
  EXPECT_NE(refusal(functions(), "prefix_sum")
                .find("loop 'i' is not parallel: iteration i = 1 writes y[1] (line 134), iteration "
                      "i = 2 reads it (line 134)"),
            std::string::npos)
      << refusal(functions(), "prefix_sum");
  EXPECT_NE(refusal(functions(), "running_sum").find("iteration i = 0 updates sum (line 140)"),
            std::string::npos);
  EXPECT_NE(refusal(functions(), "gauss_seidel").find("iteration i = 1 writes u[7]"),
            std::string::npos);
  EXPECT_NE(refusal(functions(), "scatter").find("a[index[i]] (line 154) depends on data"),
            std::string::npos);
  EXPECT_NE(refusal("void f(int* a, int n) { for (int i = 0; i < n; ++i) a[i & 3] = i; }")
                .find("iteration i = 0 writes a[0] (line 1), iteration i = 4 writes it"),
            std::string::npos);
  EXPECT_NE(refusal(functions(), "pitched_copy").find("pitch = 6"), std::string::npos);
}

// Every one of them gives another result where iterations run in another order.
TEST(LowerToKernel, RefusesWhatIsNotParallel) {
  const char* const bodies[] = {
      "for (int i = 0; i < n; ++i) { for (int j = 0; j < n; ++j) a[i * n + j] = 1;\n"
      "  for (int j = 0; j < 2 * n; ++j) a[i * n + j] = 2; }",
      "for (int i = 0; i < n; ++i) a[i] = a[n - 1 - i];",
      "for (int i = 0; i < n; ++i) a[2 * i] = a[i];",
      "for (int i = 0; i < n; ++i) for (int j = 0; j < 2 * m; ++j) a[i * m + j] = i + j;",
      "int c = 0; for (int i = 0; i < n; ++i) if (x[i] > 0) { a[c] = x[i]; c++; }",
      "for (int i = 0; i < n; ++i) a[i % 4] = x[i];",
      "for (int i = 0; i < n; ++i) a[i / 2] = x[i];",
      "for (int i = 0; i < n; ++i) a[i] = a[i + 1];",
      "for (int i = 0; i < n; ++i) a[i] = a[i + m];",
      "for (int i = 0; i < n; ++i) { if (x[i] < 0) break; a[i] = x[i]; }",
      "for (int i = 0; i < n; ++i) { if (x[i] < 0) return; a[i] = x[i]; }",
      "float t = 0; for (int i = 0; i < n; ++i) { t = x[i]; a[i] = t; } a[0] = t;",
      "float t = 0; for (int i = 0; i < n; ++i) { if (x[i] > 0) t = x[i]; a[i] = t; }",
      "for (int i = 0; i < n; ++i) a[0] = i;",
      "for (int i = 0; i < n; ++i) { v[v[i] & 15] += 1; a[i] = v[i]; }",
      "for (int i = 0; i < n; ++i) a[i] = a[i] + a[0];",
      "for (int i = 0; i < n; ++i) { a[i] = 1; n = n - v[i]; }",
      "for (int i = 0; i < n; ++i) for (int j = 0; j < n; ++j) a[i + j] = i;",
      "for (int i = 0; i <= n; ++i) a[i] = a[i + n];",
      "for (int t = 0; t < m; ++t) { for (int i = 1; i < n; ++i) a[i] = a[i - 1] + t; }",
      "for (int i = 0; i < n; ++i) { float* p = a + i; p[0] = p[1]; }",
      "for (int i = 0; i < n; ++i) *a++ = x[i];",
      "for (int i = n - 1; i >= 0; --i) a[i] = a[i] + a[0];",
  };
  for (const char* body : bodies) {
    const std::string file =
        std::string("void f(float* a, const float* x, int* v, int n, int m) {\n") + body + "\n}\n";
    EXPECT_NE(refusal(file), "") << body;
  }
}

TEST(LowerToKernel, AcceptsOtherWaysOfSayingIt) {
  const char* const bodies[] = {
      "int i; float t; for (i = 0; i < n; i++) { t = x[i] * 2; a[i] = t + 1; }",
      "for (unsigned i = 0; i < n; ++i) a[i] = x[i];",
      "for (int i = 0; i < n - 1; i += 2) { a[i] = x[i + 1]; a[i + 1] = x[i]; }",
      "if (n < 2) return; for (int i = 0; i < n; ++i) a[i] = x[i];",
      "for (int i = 0; i < n; ++i) { float* row = a + i * m; for (int j = 0; j < m; ++j) row[j] = "
      "i; }",
      "for (int i = 0; i < n; ++i) for (int k = 0; k < n; ++k) for (int j = 0; j < n; ++j)\n"
      "  a[i * n + j] += x[i * n + k] * x[k * n + j];",
      "for (int i = 0; i < n; ++i) { float s = 0; for (int k = v[i]; k < v[i + 1]; ++k) s += "
      "x[k];\n"
      "  a[i] = s; }",
      "for (int i = 0; i < n; ++i) a[i] = a[i + n];",
  };
  for (const char* body : bodies) {
    const std::string file =
        std::string("void f(float* a, const float* x, const int* v, int n, int m) {\n") + body +
        "\n}\n";
    EXPECT_EQ(refusal(file), "") << body;
  }
}

TEST(LowerToKernel, BelievesAManifestThatBuffersOverlap) {
  Manifest overlapping;
  overlapping.assume.noalias = false;
  EXPECT_FALSE(lowered(functions(), "saxpy", overlapping));
}

}  // namespace
}  // namespace regraph::loops::lower_to_kernel_test
