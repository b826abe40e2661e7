// What steps make of elements of two bytes and of one: accesses of 16 bytes, tensor cores.
#include "rewrite/step_checks.h"

namespace regraph::test::narrow_types_test {
namespace {

std::string code_after(const char* kernel, const Application& step) {
  return source::print(expect_correct(*sample(kernel), {step}).unit);
}

bool has(const std::string& code, const char* text) {
  return code.find(text) != std::string::npos;
}

TEST(NarrowTypes, RowsMoveSixteenBytesAThread) {
  const std::string gate = code_after(
      "narrow_gate", {"row_kernel", {{"threads", "128"}, {"rows", "1"}, {"width", "8"}}});
  // Both places of the row, and what is stored.
  EXPECT_TRUE(has(gate, "((uint4*)&in_values[")) << gate;
  EXPECT_TRUE(has(gate, "((uint4*)&in_values2[")) << gate;
  EXPECT_TRUE(has(gate, "((uint4*)&out[")) << gate;
  // Of single precision beside it, two accesses.
  const std::string norm = code_after(
      "narrow_norm", {"cross_thread_reduction",
                      {{"threads_per_row", "32"}, {"rows_per_block", "2"}, {"width", "8"}}});
  EXPECT_TRUE(has(norm, "((uint4*)&x_values[")) << norm;
  EXPECT_TRUE(has(norm, "((const float4*)&weight[")) << norm;
}

TEST(NarrowTypes, ElementsMoveSixteenBytesAThread) {
  EXPECT_TRUE(has(code_after("narrow_blend", {"vectorize_global", {{"width", "8"}}}), "uint4"));
  EXPECT_TRUE(
      has(code_after("narrow_quantise", {"vectorize_global", {{"width", "16"}}}), "((uint4*)&q["));
  EXPECT_TRUE(has(code_after("narrow_heat", {"vectorize_window", {{"width", "8"}}}), "uint4"));
  EXPECT_TRUE(has(code_after("narrow_dot", {"grid_reduction",
                                            {{"threads", "256"}, {"rounds", "4"}, {"width", "8"}}}),
                  "uint4"));
}

TEST(NarrowTypes, WiderVectorsAreForNarrowerTypes) {
  expect_refusal(*sample("axpy_in_place"), {"vectorize_global", {{"width", "8"}}},
                 "one access moves 8");
}

TEST(NarrowTypes, LayersRunOnTensorCores) {
  for (const Application& step :
       {Application{"wgmma", {{"columns", "256"}, {"rows", "128"}, {"stages", "4"}}},
        Application{"tensor_core",
                    {{"input", "half"}, {"tile", "64x64"}, {"depth", "64"}, {"stages", "4"}}}}) {
    expect_correct(*sample("narrow_layer"), {step});
    expect_correct(*sample("narrow_product"), {step});
  }
}

// Registers that a vector was loaded into are not set anew by what belongs to the other branch.
TEST(NarrowTypes, StagedVectorsStayWhereThreadsTakeSeveralElements) {
  expect_correct(*sample("narrow_heat"), {{"smem_halo", {{"copy", "vector"}}},
                                          {"thread_coarsen", {{"axis", "x"}, {"factor", "2"}}}});
}

// Results of 16 bits hide what faster exponentials and quotients are off by, but not what
// logarithms and sines are near a zero; other results hide nothing.
TEST(NarrowTypes, ResultsOfHalfPrecisionGrantFasterFunctions) {
  const auto gate = [](const std::string& result, const std::string& assume = "{}") {
    const std::string convert = result == "__half" ? "__float2half" : "";
    return KernelCase::make(
        "#include <cuda_fp16.h>\n__global__ void f(const __half* x, " + result +
            "* y, int n) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) "
            "return;\n"
            "  float v = __half2float(x[i]);\n  y[i] = " +
            convert + "(v / (1.0f + expf(-v)) + sinf(v) * logf(fabsf(v) + 0.5f));\n}",
        "sizes: {n: 4096}\nargs: {x: {dir: in, shape: [n]}, y: {dir: out, shape: [n]}}\n"
        "launch: {block: 128, grid: 'cdiv(n, bx)'}\ntests: [{n: 1000}, {n: 3}]\nassume: " +
            assume + "\n");
  };
  const Application all = {"fast_math", {{"functions", "all"}}};
  const auto half = gate("__half");
  ASSERT_TRUE(half.ok()) << half.error().message;
  const std::string code = source::print(expect_correct(**half, {all}).unit);
  EXPECT_TRUE(has(code, "__fdividef(v, 1.0f + __expf(-v)) + sinf(v) * logf(")) << code;
  for (const char* result : {"float", "signed char"}) {
    const auto wide = gate(result);
    ASSERT_TRUE(wide.ok()) << wide.error().message;
    expect_refusal(**wide, all, "not all results are of half precision");
  }
  const auto exact = gate("__half", "{reassociate: false}");
  ASSERT_TRUE(exact.ok()) << exact.error().message;
  expect_refusal(**exact, all, "fast_math: true");
}

}  // namespace
}  // namespace regraph::test::narrow_types_test
