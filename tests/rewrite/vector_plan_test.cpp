// Elements of a kernel that have several places of an array, or share one.
#include "rewrite/vector_checks.h"

#include <string>

namespace regraph::test::vector_plan_test {
namespace {

// `body` of pair i < rows * d in rows of `stride` elements, 2 * d of them of pairs.
std::unique_ptr<KernelCase> made(const std::string& body, const std::string& type = "float") {
  return kernel_of(
      "#include <cuda_bf16.h>\n__global__ void f(" + type + "* x, const " + type +
          "* in, const float* angles, float* out, int rows, int d, int stride) {\n"
          "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < rows * d) {\n" +
          body + "\n  }\n}",
      "sizes: {rows: 64, d: 64, stride: 160}\n"
      "args: {x: {dir: inout, shape: [rows, stride], init: normal}, "
      "in: {shape: [rows, stride], init: normal}, angles: {shape: [rows, d], init: normal}, "
      "out: {dir: inout, shape: [rows, d]}}\n"
      "launch: {block: 64, grid: 'cdiv(rows * d, bx)'}\n"
      "tests: [{rows: 5, d: 24, stride: 48}, {rows: 3, d: 17, stride: 35}, {rows: 3, d: 8, stride: "
      "20}, {rows: 1, d: 1, stride: 2}]\nassume: {noalias: true}\n");
}

std::string code_after(const std::string& body, const std::string& width,
                       const std::string& type = "float") {
  SCOPED_TRACE(body);
  return code_with_vectors(made(body, type), width);
}

TEST(VectorPlan, PairsAreTurnedInPlace) {
  const std::string body =
      "    float a = angles[i];\n    float u = x[2 * i];\n    float v = x[2 * i + 1];\n"
      "    x[2 * i] = u * a - v;\n    x[2 * i + 1] = u + v * a;";
  const std::string two = code_after(body, "2");
  expect_text(two, "float4 x_vector = ");
  expect_text(two, "float2 angles_vector = ");
  expect_text(code_after(body, "4"), "float4 angles_vector");
  const std::string halves = code_after(
      "    float a = angles[i];\n    float u = __bfloat162float(x[2 * i]);\n"
      "    float v = __bfloat162float(x[2 * i + 1]);\n"
      "    x[2 * i] = __float2bfloat16(u * a - v);\n    x[2 * i + 1] = __float2bfloat16(u + v * "
      "a);",
      "4", "__nv_bfloat16");
  expect_text(halves, "x_vector[8]");
  expect_text(halves, "float4 angles_vector");
}

TEST(VectorPlan, RowsOfPairsAreToldByQuotients) {
  const std::string code = code_after(
      "    int row = i / d, pair = i % d;\n    int first = row * stride + pair * 2;\n"
      "    float u = x[first], v = x[first + 1];\n"
      "    x[first] = u * angles[i] - v;\n    x[first + 1] = v * angles[i] + u;",
      "2");
  expect_text(code, "float4 x_vector = ");
  expect_text(code, "d % 2 == 0");
  expect_text(code, "stride % 4 == 0");
}

TEST(VectorPlan, PairsAreReadForOneElement) {
  expect_text(code_after("    out[i] = in[2 * i] * in[(i << 1) + 1];", "2"), "float4 in_vector = ");
  // The last of the pair is not known to be there.
  expect_no_text(code_after("    out[i] = in[2 * i];", "2"), "in_vector");
  expect_no_text(
      code_after("    out[i] = in[2 * i] + (angles[i] > 0 ? in[2 * i + 1] : 0.0f);", "2"),
      "in_vector");
  // Pairs that begin at odd places are no vectors, nor is every third element.
  expect_no_text(
      code_after("    out[i] = in[2 * i + 1] * in[2 * i + 2 - 2 * (i == rows * d - 1)];", "2"),
      "in_vector");
}

TEST(VectorPlan, WhatIsStoredIsStoredAsAWhole) {
  const auto stays = [](const std::string& body) {
    expect_no_text(code_after(body, "2"), "x_vector");
  };
  // One of two; the second under a condition; and a neighbour's.
  stays("    out[i] = in[2 * i] + in[2 * i + 1]; x[2 * i] = out[i];");
  stays("    out[i] = angles[i]; x[2 * i] = angles[i]; if (angles[i] > 0) x[2 * i + 1] = 1.0f;");
}

TEST(VectorPlan, ReadsSeeWhatWasStored) {
  code_after("    x[2 * i] = angles[i]; x[2 * i + 1] = x[2 * i] + 1.0f; out[i] = x[2 * i + 1];",
             "2");
  code_after("    x[2 * i] = x[2 * i + 1]; x[2 * i + 1] += angles[i]; out[i] = x[2 * i];", "2");
}

}  // namespace
}  // namespace regraph::test::vector_plan_test
