#include "loops/function_text.h"

#include <gtest/gtest.h>

namespace regraph::loops::function_text_test {
namespace {

std::string kernel_text(const std::string& file, const std::string& name = {}) {
  const auto text = function_as_kernel(file, name);
  return text ? text->text : "error: " + text.error().message;
}

TEST(FunctionText, MarksTheFunctionAndWhatItCalls) {
  const std::string text = kernel_text(
      "static float twice(float x) { return 2 * x; }\n"
      "static inline void f(float* x, int n) noexcept {\n"
      "  for (int i = 0; i < n; ++i) x[i] = twice(x[i]);\n"
      "}\n"
      "int main() { f(nullptr, 0); }\n");
  EXPECT_NE(text.find("__device__ static float twice(float x)"), std::string::npos) << text;
  EXPECT_NE(text.find("__global__ void f(float* x, int n)"), std::string::npos) << text;
  EXPECT_EQ(text.find("noexcept"), std::string::npos) << text;
  EXPECT_EQ(text.find("__device__ int main"), std::string::npos) << text;
}

TEST(FunctionText, MakesOneIndexOfSeveral) {
  const std::string text = kernel_text(
      "void f(const float a[8][16], float b[8][16][4], float c[8]) {\n"
      "  for (int i = 0; i < 8; ++i) c[i] = a[i][i + 1] + b[i][2][a[0][1] > 0 ? 1 : 0];\n"
      "}\n");
  EXPECT_NE(text.find("void f(const float *a, float *b, float *c)"), std::string::npos) << text;
  EXPECT_NE(text.find("a[i * (16) + (i + 1)]"), std::string::npos) << text;
  EXPECT_NE(text.find("b[(i * (16) + 2) * (4) + (a[0 * (16) + 1] > 0 ? 1 : 0)]"), std::string::npos)
      << text;
}

TEST(FunctionText, StoresWhatIsReturned) {
  const std::string text = kernel_text(
      "double sum(const double* x, int n) {\n"
      "  double s = 0;\n  for (int i = 0; i < n; ++i) s += x[i];\n  return s;\n}\n");
  EXPECT_NE(text.find("void sum(const double* x, int n, double* result)"), std::string::npos)
      << text;
  EXPECT_NE(text.find("result[0] = s;"), std::string::npos) << text;
}

TEST(FunctionText, NamesTheFunctionWithItsNamespaces) {
  const auto text = function_as_kernel(
      "namespace a { namespace b { void f(int* x) { for (;;) x[0] = 1; } } }", "f");
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(text->qualified_name, "a::b::f");
}

TEST(FunctionText, RefusesWhatADeviceCannotBePassed) {
  EXPECT_NE(kernel_text("void f(std::vector<float>& x) { for (;;) x[0] = 1; }")
                .find("line 1: the parameter 'std::vector<float>& x'"),
            std::string::npos);
  EXPECT_NE(kernel_text("int total;\nvoid f(int* x) { for (;;) total += x[0]; }")
                .find("line 2: it uses the variable 'total' of the file (line 1)"),
            std::string::npos);
  EXPECT_NE(kernel_text("int f(int* x) { for (;;) { if (x[0]) return 1; } return 0; }")
                .find("at the function's end alone"),
            std::string::npos);
  EXPECT_NE(kernel_text("void f() { for (;;) ; } void g() { for (;;) ; }")
                .find("choose one with --function: f, g"),
            std::string::npos);
  EXPECT_NE(kernel_text("void f() { for (;;) ; }", "h").find("no function 'h'"), std::string::npos);
}

}  // namespace
}  // namespace regraph::loops::function_text_test
