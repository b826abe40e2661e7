#include "llm/prompt/kernel_head.h"

#include "llm/prompt/code_tokens.h"

#include <gtest/gtest.h>

namespace regraph::llm::kernel_head_test {
namespace {

std::string parameters_of(std::string_view code) {
  const auto tokens = code_tokens(code);
  const auto heads = kernel_heads(tokens);
  return heads.size() == 1 ? parameters_text(heads[0]) : std::to_string(heads.size()) + " heads";
}

TEST(KernelHead, ConstRestrictAndNamesDoNotCount) {
  const std::string plain = "float *, int, unsigned int, float4 *, float ( * ) [ 64 ]";
  EXPECT_EQ(parameters_of("__global__ void f(float* a, int n, unsigned int m, float4* v, "
                          "float (*w)[64]) {}"),
            plain);
  EXPECT_EQ(parameters_of("__global__ void f(const float* const __restrict__ x, const int k, "
                          "unsigned int, float4 *__restrict__ y, float (*)[64]) {}"),
            plain);
}

TEST(KernelHead, TypesCount) {
  EXPECT_EQ(parameters_of("__global__ void f(double a, long long b, std::size_t c, unsigned d) {}"),
            "double, long long, std :: size_t, unsigned");
  EXPECT_EQ(parameters_of("__global__ void f(my_type) {}"), "my_type");
  EXPECT_EQ(parameters_of("__global__ void f(my_type x = my_type(1, 2), int n) {}"),
            "my_type, int");
  EXPECT_EQ(parameters_of("__global__ void f(pair<int, float> p, int n) {}"),
            "pair < int , float >, int");
  EXPECT_EQ(parameters_of("__global__ void f(float a[16], int n) {}"), "float [ 16 ], int");
  EXPECT_EQ(parameters_of("__global__ void f(void) {}"), "");
}

TEST(KernelHead, AttributesAreNotParameters) {
  const auto tokens = code_tokens(
      "extern \"C\" __global__ void __launch_bounds__(256, 2) f(int n) { g(n); }\n"
      "__launch_bounds__(64) __global__ void h(float x);\n"
      "template <typename T> static __device__ T d(T x) { return x; }\n");
  const auto heads = kernel_heads(tokens);
  ASSERT_EQ(heads.size(), 2U);
  EXPECT_EQ(heads[0].name, "f");
  EXPECT_TRUE(heads[0].has_body);
  EXPECT_EQ(heads[1].name, "h");
  EXPECT_FALSE(heads[1].has_body);
}

TEST(KernelHead, TakesAnyTokens) {
  for (const char* text : {"__global__", "__global__ (", "__global__ void f(", "( __global__ ) (",
                           "__global__ void f(int a", "__global__ __launch_bounds__(", ""}) {
    const auto tokens = code_tokens(text);
    EXPECT_LE(kernel_heads(tokens).size(), 1U) << text;
  }
}

}  // namespace
}  // namespace regraph::llm::kernel_head_test
