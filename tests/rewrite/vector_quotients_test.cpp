// Vectors of elements whose rows are told from their number by quotients and remainders.
#include "rewrite/vector_checks.h"

#include <string>

namespace regraph::test::vector_quotients_test {
namespace {

// `body` of element i < rows * d; `in` and `out` have rows of twice as many.
std::unique_ptr<KernelCase> made(const std::string& body, const std::string& type = "float") {
  return kernel_of(
      "#include <cuda_fp16.h>\n__global__ void f(const " + type + "* in, " + type +
          "* out, int rows, int d) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
          "  if (i < rows * d) {\n" +
          body + "\n  }\n}",
      "sizes: {rows: 64, d: 64}\n"
      "args: {in: {shape: [rows, 2 * d], init: normal}, out: {dir: inout, shape: [rows, 2 * d]}}\n"
      "launch: {block: 128, grid: 'cdiv(rows * d, bx)'}\n"
      "tests: [{rows: 5, d: 48}, {rows: 3, d: 37}, {rows: 7, d: 4}]\nassume: {noalias: true}\n");
}

std::string code_after(const std::string& body, const std::string& width,
                       const std::string& type = "float") {
  SCOPED_TRACE(body);
  return code_with_vectors(made(body, type), width);
}

TEST(VectorQuotients, HalvesOfARowAreLoadedByVectors) {
  const std::string body =
      "    int row = i / d;\n    int column = i % d;\n"
      "    float x = in[row * 2 * d + column];\n    float y = in[row * 2 * d + d + column];\n"
      "    out[i] = x * y;";
  const std::string code = code_after(body, "4");
  expect_text(code, "d % 4 == 0");
  expect_text(code, "float4 in_vector = ");
  expect_text(code, "float4 in_vector2 = ");
  expect_text(code, "float4 out_vector");
  expect_text(code_after("    out[i] = in[(i - i % d) * 2 + i % d];", "2"), "float2 in_vector = ");
  const std::string halves = code_after(
      "    int row = i / d, column = i % d;\n"
      "    out[i] = __float2half(2.0f * __half2float(in[row * 2 * d + column]));",
      "8", "__half");
  expect_text(halves, "in_vector[8]");
}

TEST(VectorQuotients, RowsAreStoredByVectors) {
  expect_text(code_after("    out[i / d * 2 * d + d + i % d] = in[i];", "4"), "float4 out_vector");
}

TEST(VectorQuotients, WhatIsNotInRowsStaysAsItIs) {
  // Neighbours are d apart.
  const std::string code = code_after("    out[i] = in[i % d * rows + i / d];", "4");
  EXPECT_EQ(code.find("float4 in_vector"), std::string::npos) << code;
  // The row is another one for every element.
  const std::string shifted = code_after("    out[i] = in[i / 2 / d * 2 * d + i % d];", "4");
  EXPECT_EQ(shifted.find("float4 in_vector"), std::string::npos) << shifted;
}

}  // namespace
}  // namespace regraph::test::vector_quotients_test
