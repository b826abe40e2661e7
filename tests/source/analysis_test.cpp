// Names for values of sizes: which of them polynomials may mention.
#include "source/analysis.h"

#include "source/build.h"
#include "source/clang_frontend.h"
#include "support/cuda.h"

#include <gtest/gtest.h>

#include <string>

namespace regraph::source::analysis_test {
namespace {

// Whether `half` stands for itself in polynomials of the kernel.
bool half_is_known(const std::string& body) {
  const auto configuration = default_front_end(test::cuda_root(), "sm_90");
  auto parsed = parse_kernel("__global__ void f(float* a, int n, int m, float x) { " + body + " }",
                             "kernel.cu", "", *configuration);
  EXPECT_TRUE(parsed.ok() && parsed->unit) << body;
  if (!parsed.ok() || !parsed->unit) return false;
  const Analysis analysis(parsed->unit->kernel);
  const auto meaning = analysis.meaning()("half");
  return meaning && meaning->mentions("half");
}

TEST(Analysis, NamesForSizesStandForThemselves) {
  EXPECT_TRUE(half_is_known("int half = (n + 1) / 2; a[half] = 0.0f;"));
  EXPECT_TRUE(half_is_known("const int half = n / 32 * 32; a[half] = 0.0f;"));
  EXPECT_TRUE(half_is_known("int q = m / 3; long long half = (long long)n * q; a[half] = 0.0f;"));
}

// Others may be negative, differ, or not be there where an expression ends up.
TEST(Analysis, OtherNamesAreNotSizes) {
  for (const char* body : {
           "int half = (n - m) / 2; a[half] = 0.0f;",
           "int half = n % m; a[half] = 0.0f;",
           "int half = threadIdx.x / 2; a[half] = 0.0f;",
           "int half = n / 2; half = 3; a[half] = 0.0f;",
           "int half = (int)x / 2; a[half] = 0.0f;",
           "int half = (short)n / 2; a[half] = 0.0f;",
           "if (threadIdx.x < 3) { int half = n / 2; a[half] = 0.0f; }",
           "for (int k = 0; k < n; ++k) { int half = k / 2; a[half] = 0.0f; }",
       })
    EXPECT_FALSE(half_is_known(body)) << body;
  // What is a polynomial is that.
  EXPECT_FALSE(half_is_known("int half = n + m; a[half] = 0.0f;"));
}

// Quotients of sizes are compared as they are, named or not.
TEST(Analysis, QuotientsOfSizesAreComparable) {
  const auto configuration = default_front_end(test::cuda_root(), "sm_90");
  auto parsed = parse_kernel(
      "__global__ void f(float* a, int n, int m) {\n"
      "  const int rows = (n - 7) / m + 2;\n"
      "  int thread = (blockIdx.x + n) / 4;\n"
      "  a[rows] = 1.0f; a[(n - 7) / m + 1] = 2.0f; a[thread] = 3.0f; }",
      "kernel.cu", "", *configuration);
  ASSERT_TRUE(parsed.ok() && parsed->unit);
  const Analysis analysis(parsed->unit->kernel);
  std::vector<std::optional<Polynomial>> indices;
  for (const StmtPtr& stmt : parsed->unit->kernel.body) {
    if (const auto* store = as<Assignment>(stmt))
      indices.push_back(analysis.polynomial_with_sizes(to<Subscript>(store->target).index));
  }
  ASSERT_EQ(indices.size(), 3U);
  ASSERT_TRUE(indices[0] && indices[1]);
  EXPECT_EQ(*indices[0] - *indices[1], Polynomial(1));
  const auto symbols = indices[1]->symbols();
  ASSERT_EQ(symbols.size(), 1U);
  EXPECT_TRUE(is_quotient(*symbols.begin()));
  EXPECT_EQ(names_in_quotient(*symbols.begin()), (std::set<std::string>{"m", "n"}));
  EXPECT_FALSE(indices[2]) << "it follows the block";
}

// Of definitions that each use two earlier ones there are more ways through than can be gone.
TEST(Analysis, ChainsOfDefinitionsAreWorkedOutOnce) {
  std::string sums = "int s0 = n, s1 = m;";
  std::string powers = "int p0 = n;";
  for (int i = 2; i < 90; ++i) {
    const auto name = [](const char* stem, int number) { return stem + std::to_string(number); };
    sums += " int " + name("s", i) + " = " + name("s", i - 1) + " - " + name("s", i - 2) + ";";
    powers +=
        " int " + name("p", i - 1) + " = " + name("p", i - 2) + " * " + name("p", i - 2) + ";";
  }
  const auto configuration = default_front_end(test::cuda_root(), "sm_90");
  auto parsed = parse_kernel("__global__ void f(float* a, int n, int m) { " + sums + powers +
                                 " a[s89] = 0.0f; a[p88] = 0.0f; }",
                             "kernel.cu", "", *configuration);
  ASSERT_TRUE(parsed.ok() && parsed->unit);
  const Analysis analysis(parsed->unit->kernel);
  const auto sum = analysis.polynomial(variable("s89"));
  ASSERT_TRUE(sum);
  EXPECT_LE(sum->terms().size(), 2u);
  // n to a power that no memory holds is not written out.
  const auto power = analysis.polynomial(variable("p88"));
  ASSERT_TRUE(power);
  EXPECT_EQ(power->terms().size(), 1u);
}

}  // namespace
}  // namespace regraph::source::analysis_test
