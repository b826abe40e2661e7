#include "rewrite/forms/simplify.h"

#include "rewrite/form_checks.h"

namespace regraph::test::simplify_test {
namespace {

// The body of f(float* a, int n, int i, unsigned u, float x) once it is simplified.
std::string simplified_body(const std::string& body) {
  auto kernel = KernelCase::make(
      "__global__ void f(float* a, int n, int i, unsigned u, float x) {\n" + body + "\n}",
      "sizes: {n: 64}\nargs: {a: {dir: inout, shape: [n]}, i: 1, u: 1, x: 1}\n"
      "launch: {block: 1, grid: 1}\n");
  EXPECT_TRUE(kernel.ok()) << kernel.error().message;
  if (!kernel) return "";
  source::Unit unit = (*kernel)->original().unit;
  unit.kernel.body = rewrite::simplified(unit.kernel.body);
  const std::string text = source::print(unit);
  const std::size_t begin = text.find("{\n") + 2;
  return text.substr(begin, text.rfind('}') - begin);
}

TEST(Simplified, WorksOutNumbers) {
  EXPECT_EQ(simplified_body("a[i / 1 * 4 + 0] = x;"), "  a[i * 4] = x;\n");
  EXPECT_EQ(simplified_body("a[0 + i % 1 * 4 + 2 * 3] = x;"), "  a[6] = x;\n");
  EXPECT_EQ(simplified_body("a[n * (int)0 + (int)1 * i] = x;"), "  a[i] = x;\n");
  EXPECT_EQ(simplified_body("a[u / 8 + 0 * 16] = x;"), "  a[u / 8] = x;\n");
  EXPECT_EQ(simplified_body("a[(long long)i + (long long)n * (long long)0] = x;"),
            "  a[(long long)i] = x;\n");
  EXPECT_EQ(simplified_body("a[(long long)1 * (long long)i] = x;"), "  a[(long long)i] = x;\n");
}

TEST(Simplified, DropsConditionsThatHold) {
  EXPECT_EQ(simplified_body("if (i < n && 0 < 16) a[i] = x;"),
            "  if (i < n) {\n    a[i] = x;\n  }\n");
  EXPECT_EQ(simplified_body("if (0 < 4) a[i] = x;"), "  a[i] = x;\n");
  EXPECT_EQ(simplified_body("if (i < n && 30 < 0) a[i] = x; else a[0] = x;"), "  a[0] = x;\n");
  EXPECT_EQ(simplified_body("if (!(3 > 2) || i < n) a[i] = x;"),
            "  if (i < n) {\n    a[i] = x;\n  }\n");
  EXPECT_EQ(simplified_body("for (int k = 4; k < 4; ++k) a[k] = x;"), "");
}

TEST(Simplified, LoopsOfOneIterationAreNone) {
  EXPECT_EQ(simplified_body("for (int k = 2; k < 3; ++k) a[k * 4 + i] = x;"), "  a[8 + i] = x;\n");
  // An unsigned counter decides how what stands beside it is read.
  EXPECT_NE(
      simplified_body("for (unsigned k = 0; k < 1; ++k) if (k - 1 < u) a[k] = x;").find("for ("),
      std::string::npos);
  EXPECT_NE(simplified_body("for (int k = 0; k < 1; ++k) {\n  if (x > 1.0f) break;\n  a[k] = x;\n}")
                .find("for ("),
            std::string::npos);
}

TEST(Simplified, KeepsNamesApart) {
  EXPECT_EQ(simplified_body("if (1 < 2) {\n  int k = i;\n  a[k] = x;\n}"),
            "  {\n    int k = i;\n    a[k] = x;\n  }\n");
}

// Sums of floating-point numbers, unsigned products and what may have an effect.
TEST(Simplified, LeavesWhatMayDiffer) {
  EXPECT_EQ(simplified_body("a[i] = x * 1;"), "  a[i] = x * 1;\n");
  EXPECT_EQ(simplified_body("a[i] = x + 0;"), "  a[i] = x + 0;\n");
  EXPECT_EQ(simplified_body("a[u * 0] = x;"), "  a[u * 0] = x;\n");
  EXPECT_NE(simplified_body("if (atomicAdd(a, x) > 1.0f && 3 < 2) a[i] = x;").find("atomicAdd"),
            std::string::npos);
}

}  // namespace
}  // namespace regraph::test::simplify_test
