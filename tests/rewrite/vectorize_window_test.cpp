// vectorize_window: neighbours along rows in vectors.
#include "rewrite/step_checks.h"

namespace regraph::test::vectorize_window_test {
namespace {

Application vectors(const char* width = "4") {
  return {"vectorize_window", {{"width", width}}};
}

Application vector_window(const char* axis, const char* rows) {
  return {"window", {{"axis", axis}, {"rows", rows}, {"block", "keep"}, {"vector", "4"}}};
}

std::string text_after(const char* name, const Application& step) {
  const auto kernel = sample(name);
  if (kernel == nullptr) return "";
  return source::print(expect_correct(*kernel, {step}).unit);
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

TEST(VectorizeWindow, RowsAreMovedAsVectorsAndTheirEndsAlone) {
  const std::string text = text_after("columns_heat", vectors());
  EXPECT_NE(text.find("if (width % 4 == 0)"), std::string::npos) << text;
  EXPECT_EQ(count(text, "(const float4*)&in["), 3) << text;
  EXPECT_EQ(count(text, "((float4*)&out["), 1) << text;
  // The ends of rows are still asked for, and nothing else about columns.
  EXPECT_NE(text.find("out_vector.x = x2 > 0 ? "), std::string::npos) << text;
  EXPECT_NE(text.find("out_vector.y = 0.5f"), std::string::npos) << text;
}

TEST(VectorizeWindow, RowsOfAThreadShareWhatTheyRead) {
  const std::string text = text_after("columns_heat", vector_window("y", "4"));
  EXPECT_EQ(count(text, "(const float4*)&in["), 6) << text;
  EXPECT_EQ(count(text, "((float4*)&out["), 4) << text;
}

TEST(VectorizeWindow, SizesOfRowsMayBeQuotients) {
  const std::string text = text_after("columns_pool", vectors());
  EXPECT_NE(text.find("(width + 1) / 2 % 4 == 0"), std::string::npos) << text;
  EXPECT_NE(text.find("width % 4 == 0 && "), std::string::npos) << text;
  EXPECT_EQ(count(text, "(const float4*)&in["), 6) << text;
}

TEST(VectorizeWindow, KeepsTheResult) {
  for (const char* name : {"columns_heat", "columns_second_order", "columns_pool",
                           "columns_seven_points", "columns_clamped", "columns_two_rows"}) {
    SCOPED_TRACE(name);
    const auto kernel = sample(name);
    ASSERT_NE(kernel, nullptr);
    expect_correct(*kernel, {vectors()});
    expect_correct(*kernel, {vectors("2")});
    expect_correct(*kernel, {vector_window("y", "2")});
  }
  expect_correct(*sample("columns_seven_points"), {vector_window("z", "4")});
}

// Four taps that end at the element, in rows that begin with fewer. `index`: the type of a row's
// place.
std::string causal_code(const std::string& type, const std::string& index, const char* width) {
  const auto kernel = KernelCase::make(
      "#include <cuda_bf16.h>\n__global__ void f(const " + type + "* x, const float* weight, " +
          type +
          "* out, int rows, int length) {\n"
          "  int t = blockIdx.x * blockDim.x + threadIdx.x;\n  if (t >= length) return;\n  " +
          index +
          " row = blockIdx.y * length;\n  float sum = 0.0f;\n"
          "  for (int k = 0; k < 4; k++) {\n    int position = t - 3 + k;\n"
          "    if (position >= 0) sum += weight[k] * (float)x[row + position];\n  }\n"
          "  out[row + t] = (" +
          type + ")sum;\n}",
      "sizes: {rows: 64, length: 256}\nargs: {x: {shape: [rows, length], init: normal}, "
      "weight: {shape: [4], init: normal}, out: {dir: out, shape: [rows, length]}}\n"
      "launch: {block: 32, grid: ['cdiv(length, bx)', rows]}\n"
      "tests: [{rows: 3, length: 80}, {rows: 3, length: 37}, {rows: 2, length: 8}, {rows: 1, "
      "length: "
      "1}]\nassume: {noalias: true}\n");
  EXPECT_TRUE(kernel.ok()) << (kernel.ok() ? "" : kernel.error().message);
  if (!kernel) return "";
  return source::print(expect_correct(**kernel, {vectors(width)}).unit);
}

TEST(VectorizeWindow, WhatLiesInFrontOfARowIsAVector) {
  const std::string halves = causal_code("__nv_bfloat16", "int", "8");
  EXPECT_EQ(count(halves, "(const uint4*)&x["), 1) << halves;
  EXPECT_EQ(count(halves, "(const uint2*)&x["), 1) << halves;
  EXPECT_NE(halves.find(" >= 0) {\n        ((uint2*)"), std::string::npos) << halves;
  const std::string floats = causal_code("float", "long long", "4");
  EXPECT_EQ(count(floats, "(const float4*)&x["), 2) << floats;
  EXPECT_NE(floats.find(">= 0 ? ((const float4*)&x["), std::string::npos) << floats;
  // An index without a sign does not tell that it is in front of the buffer.
  const std::string without_sign = causal_code("float", "unsigned int", "4");
  EXPECT_EQ(count(without_sign, "(const float4*)&x["), 1) << without_sign;
}

// Doubles fill a vector of 16 bytes in pairs.
TEST(VectorizeWindow, VectorsAreNoLongerThanAnAccess) {
  const std::string text = text_after("columns_second_order", vectors());
  EXPECT_NE(text.find("double2"), std::string::npos) << text;
  EXPECT_EQ(text.find("double4"), std::string::npos) << text;
}

// Stores to rows at a distance that is only given when the kernel runs may be to the same elements:
// they keep their order.
TEST(VectorizeWindow, StoresThatMayMeetKeepTheirOrder) {
  const std::string text = text_after("columns_two_rows", vectors());
  EXPECT_NE(text.find("(const float4*)&in["), std::string::npos) << text;
  EXPECT_EQ(text.find("((float4*)&out["), std::string::npos) << text;
}

Result<std::unique_ptr<KernelCase>> row_kernel(const std::string& code, const std::string& more) {
  return KernelCase::make(
      "__global__ void f(const float* a, float* b, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
          code + "\n}",
      "sizes: {n: 1024}\nargs: {a: {dir: in, shape: [n]}, b: {dir: inout, "
      "shape: [n]}}\nlaunch: {block: 64, grid: 'cdiv(n, bx)'}\n"
      "tests: [{n: 512}, {n: 131}, {n: 1}]\n" +
          more);
}

TEST(VectorizeWindow, RefusesWhatItCannotProve) {
  const std::string sum = "  if (i > 0 && i < n - 1) b[i] = a[i - 1] + a[i + 1];";
  const auto aliased = row_kernel(sum, "assume: {noalias: false}\n");
  ASSERT_TRUE(aliased.ok()) << aliased.error().message;
  expect_refusal(**aliased, vectors(), "the problem does not grant 'assume: {noalias: true}'");
  const auto unaligned = row_kernel(sum, "assume: {noalias: true, align: 4}\n");
  ASSERT_TRUE(unaligned.ok()) << unaligned.error().message;
  expect_refusal(**unaligned, vectors(), "known to start a vector");
  const auto strided =
      row_kernel("  if (3 * i < n) b[3 * i] = a[3 * i];", "assume: {noalias: true}\n");
  ASSERT_TRUE(strided.ok()) << strided.error().message;
  expect_refusal(**strided, vectors(), "");
  // Changed in place, where a neighbour is read.
  const auto in_place =
      row_kernel("  if (i < n / 2) b[2 * i] = b[2 * i + 1] + a[i];", "assume: {noalias: true}\n");
  ASSERT_TRUE(in_place.ok()) << in_place.error().message;
  const auto state =
      (*in_place)->apply((*in_place)->original(), vectors().step, vectors().parameters);
  if (state.ok()) expect_correct(**in_place, {vectors()});
}

// Which of several conditions holds does not matter for a border; inside, none of them does.
TEST(BranchHoist, BordersMayBeAskedForByEquality) {
  const auto kernel = row_kernel(
      "  if (i >= n) return;\n  if (i == 0 || i == n - 1) b[i] = a[i];\n"
      "  else b[i] = a[i - 1] + a[i + 1];",
      "assume: {noalias: true}\n");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const auto state = expect_correct(**kernel, {{"branch_hoist", {{"form", "split"}}}});
  const std::string text = source::print(state.unit);
  EXPECT_NE(text.find("(int)blockIdx.x * 64 > 0"), std::string::npos) << text;
  EXPECT_NE(text.find("(int)blockIdx.x * 64 + 64 < n"), std::string::npos) << text;
}

}  // namespace
}  // namespace regraph::test::vectorize_window_test
