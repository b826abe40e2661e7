#include "source/template_deduction.h"

#include "source/extract.h"

#include <gtest/gtest.h>

#include <string>

namespace regraph::source::template_deduction_test {
namespace {

// What the template's parameters are bound to in "<kernel> <host>", or the error.
std::string bindings(const std::string& kernel, const std::string& host) {
  ExtractionRequest request;
  request.file_name = "file.cu";
  const auto code = extract_device_code(kernel + "\n" + host, request);
  if (!code.ok()) return code.error().message;
  std::string text;
  for (const std::string& argument : code->template_arguments)
    text += (text.empty() ? "" : ", ") + argument;
  return text;
}

const std::string kScale =
    "template <typename T> __global__ void scale(T* __restrict__ a, const T* b, T s, int n) { a[0] "
    "= b[n] * s; }";

TEST(TemplateDeduction, PointersAreWhatVariablesOfTheHostAre) {
  EXPECT_EQ(bindings(kScale,
                     "int main() { float* d_a; float *d_b, *d_c; int n = 4;\n"
                     "  scale<<<1, 32>>>(d_a, d_b, 2, n); }"),
            "float");
  EXPECT_EQ(bindings(kScale,
                     "void run(const double* in, double* out, int n) {\n"
                     "  scale<<<1, 32>>>(out + 4, in, 2.0, n); }"),
            "double");
  EXPECT_EQ(bindings(kScale,
                     "static unsigned int *buffer = nullptr;\n"
                     "int main() { scale<<<1, 32>>>(buffer, buffer, 2u, 5); }"),
            "unsigned int");
  EXPECT_EQ(bindings(kScale,
                     "int main() { void* p; scale<<<1, 32>>>((long long*)p, "
                     "reinterpret_cast<const long long*>(p), 2, 5); }"),
            "long long");
  EXPECT_EQ(bindings(kScale, "int main() { half* a[2]; scale<<<1, 32>>>(a[0], a[1], h, 5); }"),
            "half");
}

TEST(TemplateDeduction, ContainersAndClassesOfTheFile) {
  EXPECT_EQ(bindings(kScale,
                     "int main() { thrust::device_vector<float> v(9);\n"
                     "  scale<<<1, 32>>>(thrust::raw_pointer_cast(v.data()), "
                     "thrust::raw_pointer_cast(&v[0]), 1.f, 9); }"),
            "float");
  EXPECT_EQ(
      bindings("struct Twice { __device__ float operator()(float x) const { return 2 * x; } };\n"
               "template <class F> __global__ void map(float* a, F f) { a[0] = f(a[0]); }",
               "int main() { float* a; map<<<1, 1>>>(a, Twice()); map<<<1, 1>>>(a, Twice{}); }"),
      "Twice");
  EXPECT_EQ(
      bindings(
          "template <class T, int N> struct Box { T v[N]; };\n"
          "template <class T, int N> __global__ void k(Box<T, N>* a) { a[0].v[N - 1] = T(0); }",
          "int main() { Box<double, 4>* boxes; k<<<1, 1>>>(boxes); }"),
      "double, 4");
}

TEST(TemplateDeduction, WhatIsSaidComesFirstThenWhatIsPassedThenDefaults) {
  const std::string kernel =
      "template <int N, typename T, int M = 7> __global__ void k(T* a) { a[N] = T(M); }";
  EXPECT_EQ(bindings(kernel, "int main() { float* a; k<3><<<1, 1>>>(a); }"), "3, float, 7");
  EXPECT_EQ(bindings(kernel, "int main() { float* a; k<3, double><<<1, 1>>>((double*)a); }"),
            "3, double, 7");
  EXPECT_EQ(bindings(kernel, "int main() { float* a; k<<<1, 1>>>(a); }"), "16, float, 7");
}

TEST(TemplateDeduction, WrappersPassOnWhatTheyAreGiven) {
  const std::string wrapper =
      "template <typename U> void launch(U* x, U* y, U factor, int n) {\n"
      "  scale<<<(n + 255) / 256, 256>>>(x, y, factor, n);\n}\n";
  EXPECT_EQ(bindings(kScale, wrapper + "int main() { float *x, *y; launch(x, y, 2.0f, 100); }"),
            "float");
  EXPECT_EQ(bindings(kScale, wrapper + "int main() { launch<double>(nullptr, nullptr, 1, 100); }"),
            "double");
  const std::string several = bindings(
      kScale,
      wrapper + "int main() { float *x; int *y; launch(x, x, 1.f, 9); launch(y, y, 1, 9); }");
  EXPECT_NE(several.find("several instances (scale<float>, scale<int>)"), std::string::npos)
      << several;
  EXPECT_EQ(bindings(kScale,
                     "template <typename real> void bench() { real *x, *y;\n"
                     "  scale<<<1, 32>>>(x, y, (real)2, 5); }\n"
                     "int main() { bench<double>(); }"),
            "double");
}

TEST(TemplateDeduction, MembersOfTheNameAreOthers) {
  EXPECT_EQ(bindings(kScale,
                     "int main() { float* a; double* b; Array array; array.scale(b, b, 2.0, 3);\n"
                     "  scale<<<1, 32>>>(a, a, 2.0f, 3); }"),
            "float");
}

TEST(TemplateDeduction, ExpressionsAreNoDeclarations) {
  // The last three mention d with a star or a comma in front.
  EXPECT_EQ(bindings(kScale,
                     "int main() { float *a; int d = 3; double x = 2;\n"
                     "  x = x * d; f(x, d); g(x * d);\n"
                     "  scale<<<1, 32>>>(a, a, d, d); }"),
            "float");
  EXPECT_EQ(
      bindings("template <typename T> __global__ void k(float* a, T s) { a[0] = s; }",
               "int main() { float* a; int d = 3; double x = 2; x = x * d; f(x, d); g(x * d);\n"
               "  k<<<1, 32>>>(a, d); }"),
      "int");
}

}  // namespace
}  // namespace regraph::source::template_deduction_test
