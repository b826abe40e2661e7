// Integers that straight code changes, and the windows that are clipped with them.
#include "rewrite/forms/single_assignment.h"

#include "rewrite/analysis/kernel_analysis.h"
#include "rewrite/step_checks.h"

namespace regraph::test::single_assignment_test {
namespace {

std::unique_ptr<KernelCase> kernel_of(const std::string& body) {
  auto kernel = KernelCase::make(
      "__global__ void f(const float* a, float* b, int n, int m) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n"
      "  float s = 0.0f;\n" +
          body + "\n  b[i] = s;\n}",
      "sizes: {n: 64, m: 32}\nargs:\n  a: {dir: in, shape: [n, m]}\n  b: {dir: out, shape: [n]}\n"
      "launch: {block: 64, grid: 'cdiv(n, bx)'}\ntests: [{n: 64, m: 13}, {n: 37, m: 16}, {n: 5, m: "
      "2}]\n");
  EXPECT_TRUE(kernel.ok()) << (kernel.ok() ? "" : kernel.error().message) << body;
  return kernel.ok() ? std::move(*kernel) : nullptr;
}

std::string named(const std::string& body) {
  const auto kernel = kernel_of(body);
  if (!kernel) return "";
  rewrite::KernelState state = kernel->original();
  state.unit.kernel.body = rewrite::with_single_assignments(state.unit.kernel);
  EXPECT_EQ(kernel->verdict(state), "correct") << source::print(state.unit);
  return source::print(state.unit);
}

// As steps see it.
std::string seen(const std::string& body) {
  const auto kernel = kernel_of(body);
  if (!kernel) return "";
  rewrite::KernelState state = kernel->original();
  const rewrite::KernelAnalysis analysis = kernel->analysis(kernel->original());
  state.unit.kernel = analysis.kernel();
  EXPECT_EQ(kernel->verdict(state), "correct") << source::print(state.unit);
  return source::print(state.unit);
}

TEST(StraightLines, HaveNames) {
  const std::string code =
      named("int p = i - 1; int e = p + 3; p = max(p, 0); p += 1; s = a[p % m] + e + p;");
  EXPECT_NE(code.find("const int p_2 = max(p, 0);"), std::string::npos) << code;
  EXPECT_NE(code.find("const int p_3 = p_2 + 1;"), std::string::npos) << code;
  EXPECT_NE(code.find("a[p_3 % m]"), std::string::npos) << code;
}

TEST(StraightLines, OthersStay) {
  for (const char* body : {
           "int p = i; if (i > 3) p = p - 1; s = p;",
           "int p = i; for (int k = 0; k < 3; ++k) p = p + 1; s = p;",
           "int p = i; p = p + 1; for (int k = 0; k < 3; ++k) p = p + 1; s = p;",
           "float p = i; p = p + 1.0f; s = p;",
       }) {
    const std::string code = named(body);
    EXPECT_EQ(code.find("p_2"), std::string::npos) << code;
  }
}

TEST(ClippedWindows, AreLoopsOfConstantLength) {
  for (const char* body : {
           "int p = i - 1; int e = min(p + 3, m); p = max(p, 0); for (int y = p; y < e; ++y) s += "
           "a[y];",
           "for (int y = max(i - 1, 0); y < min(i + 2, m); ++y) s = fmaxf(s, a[y]);",
           "int lo = i - 1 > 0 ? i - 1 : 0; for (int y = lo; y < i + 2 && y < m; ++y) s += a[y];",
       }) {
    const std::string code = seen(body);
    EXPECT_NE(code.find("for (int k = 0; k < 3; ++k)"), std::string::npos) << code;
    EXPECT_NE(code.find("y >= 0"), std::string::npos) << code;
  }
}

TEST(ClippedWindows, OthersStay) {
  for (const char* body : {
           // The elements follow from where it begins, it may end early, it is long.
           "for (int y = max(i - 1, 0); y < min(i + 3, m); y += 2) s += a[y];",
           "for (int y = max(i - 1, 0); y < min(i + 2, m); ++y) { if (a[y] > 2.0f) break; s += "
           "a[y]; "
           "}",
           "for (int y = max(i - 40, 0); y < min(i + 40, m); ++y) s += a[y];",
           "for (int y = max(i, 0); y < min(i + m, m); ++y) s += a[y];",
       }) {
    const std::string code = seen(body);
    EXPECT_EQ(code.find("for (int k = 0;"), std::string::npos) << code;
  }
}

}  // namespace
}  // namespace regraph::test::single_assignment_test
