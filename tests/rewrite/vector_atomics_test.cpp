// Atomic additions of neighbouring elements become additions of vectors.
#include "rewrite/step_checks.h"

namespace regraph::test::vector_atomics_test {
namespace {

Application wide(const std::string& width) {
  return {"vectorize_global", {{"width", width}}};
}

std::string code_after(const std::string& kernel, const std::string& width) {
  SCOPED_TRACE(kernel + " " + width);
  return source::print(expect_correct(*sample(kernel), {wide(width)}).unit);
}

TEST(VectorAtomics, RowsAreScatteredByVectors) {
  const std::string four = code_after("scatter_add", "4");
  expect_text(four, "width % 4 == 0");
  expect_text(four, "float4 in_vector = ");
  expect_text(four, "atomicAdd((float4*)&out[");
  // Elements past the last vector, and rows whose length is no multiple, go one by one.
  expect_text(four, "atomicAdd(&out[");
  expect_text(code_after("scatter_add", "2"), "atomicAdd((float2*)&out[");
  for (const char* width : {"2", "4", "8"}) {
    const std::string halves = code_after("scatter_add_half", width);
    expect_text(halves, "atomicAdd((__half2*)&out[");
  }
}

TEST(VectorAtomics, GuardsThatAllElementsShareStay) {
  const std::string four = code_after("scatter_rows", "4");
  expect_text(four, "atomicAdd((float4*)&out[");
  expect_text(code_after("scatter_rows_bfloat", "8"), "atomicAdd((__nv_bfloat162*)&out[");
}

std::size_t count(const std::string& code, const std::string& text) {
  std::size_t found = 0;
  for (std::size_t at = code.find(text); at != std::string::npos; at = code.find(text, at + 1))
    ++found;
  return found;
}

// Once for a vector, and once where elements go one by one: at the end, and in rows of other
// lengths.
TEST(VectorAtomics, TheRowsIndexIsLoadedOnce) {
  const std::string code = code_after("scatter_rows", "4");
  EXPECT_EQ(count(code, "index[row]"), 3U) << code;
  const std::string halves = code_after("scatter_add_half", "8");
  EXPECT_EQ(count(halves, "index["), 3U) << halves;
  EXPECT_EQ(count(halves, "atomicAdd((__half2*)&out[first_out"), 4U) << halves;
}

std::unique_ptr<KernelCase> make(const std::string& body, const std::string& type = "float",
                                 const DeviceLimits& limits = sm_90_limits(),
                                 const std::string& assume = "{noalias: true}") {
  auto kernel = KernelCase::make(
      "#include <cuda_fp16.h>\n__global__ void f(const " + type + "* in, const int* index, " +
          type + "* out, int rows, int width) {\n" +
          "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < rows * width) {\n" + body +
          "\n  }\n}",
      "sizes: {rows: 64, width: 64}\n"
      "args: {in: {dir: in, shape: [rows, width], init: 'int(-4,4)'}, index: {dir: in, shape: "
      "[rows, width], init: 'int(0, rows - 1)'}, out: {dir: inout, shape: [2 * rows, width], init: "
      "'int(-2,2)'}}\nlaunch: {block: 64, grid: 'cdiv(rows * width, bx)'}\n"
      "tests: [{rows: 5, width: 24}, {rows: 3, width: 7}, {rows: 1, width: 1}]\nassume: " +
          assume + "\n",
      limits);
  EXPECT_TRUE(kernel.ok()) << kernel.error().message;
  return kernel.ok() ? std::move(*kernel) : nullptr;
}

std::string code_of(const KernelCase& kernel, const std::string& width = "4") {
  return source::print(expect_correct(kernel, {wide(width)}).unit);
}

TEST(VectorAtomics, RowsMayBeNumberedInOtherWays) {
  // Quotients of quotients, shifts, rows of constant length, and values without an index.
  const auto shifted =
      make("atomicAdd(&out[index[i >> 3] * width + i - i / width * width], in[i]);");
  EXPECT_NE(code_of(*shifted).find("(float4*)&out["), std::string::npos) << code_of(*shifted);
  const auto halves =
      make("atomicAdd(&out[i / (2 * width) * 2 * width + i % (2 * width)], in[i]);");
  EXPECT_NE(code_of(*halves).find("(float4*)&out["), std::string::npos) << code_of(*halves);
  const auto guarded = make("if (index[i / width] > 0) atomicAdd(&out[i], in[i]);");
  EXPECT_EQ(count(code_of(*guarded), "atomicAdd((float4*)"), 1U) << code_of(*guarded);
  const auto plain = make("atomicAdd(out + i, 2.0f * in[i]); atomicAdd(&out[i + width], in[i]);");
  EXPECT_EQ(count(code_of(*plain), "atomicAdd((float4*)"), 2U) << code_of(*plain);
}

TEST(VectorAtomics, OthersStayOneByOne) {
  const auto stays = [](const std::string& body, const std::string& type = "float",
                        const DeviceLimits& limits = sm_90_limits()) {
    const auto kernel = make(body, type, limits);
    const std::string code = code_of(*kernel, type == "float" ? "4" : "2");
    expect_no_text(code, "4*)&out[");
    expect_no_text(code, "2*)&out[");
  };
  // An index for each element; neighbours apart; a guard of their own.
  stays("atomicAdd(&out[index[i]], in[i]);");
  stays("atomicAdd(&out[2 * i], in[i]);");
  stays("atomicAdd(&out[i + 1], in[i]);");
  stays("float v = in[i]; if (v > 0.0f) atomicAdd(&out[i], v);");
  stays("if (i % width > 2) atomicAdd(&out[i], in[i]); atomicAdd(&out[i + 1], in[i]);");
  // Rows that a vector may cross: (i + 1) / width, and (i - 1) / width where i is 0.
  stays("atomicAdd(&out[(i + 1) / width * width + i % width], in[i]);");
  // Where the row begins is loaded: nothing says that a vector may begin there.
  stays("atomicAdd(&out[index[i / width] + i % width], in[i]);");
  stays("atomicAdd(&out[i], in[i]);", "int");
  DeviceLimits older = sm_90_limits();
  older.architecture = "sm_80";
  stays("atomicAdd(&out[i], in[i]);", "float", older);
}

TEST(VectorAtomics, HalvesNeedNoNewDevice) {
  DeviceLimits older = sm_90_limits();
  older.architecture = "sm_80";
  const auto kernel = make("atomicAdd(&out[i], in[i]);", "__half", older);
  expect_text(code_of(*kernel, "8"), "atomicAdd((__half2*)&out[");
}

// The old value is wanted, or the array is used besides.
TEST(VectorAtomics, WhatIsReadBackStaysOneByOne) {
  const auto returned =
      make("float old = atomicAdd(&out[i], in[i]); if (old > 1e30f) atomicAdd(&out[i], 0.0f);");
  expect_no_text(code_of(*returned), "float4*)&out[");
  const auto stored = make("atomicAdd(&out[i], in[i]); if (in[i] > 1e30f) out[i] = 0.0f;");
  expect_no_text(code_of(*stored), "float4*)&out[");
}

TEST(VectorAtomics, TheReasonIsGiven) {
  const auto kernel = make("atomicAdd(&out[2 * i], 1.0f);");
  expect_refusal(*kernel, wide("4"), "out: elements that meet in it do not fill whole vectors");
  const auto aligned =
      make("atomicAdd(&out[i], 1.0f);", "float", sm_90_limits(), "{noalias: true, align: 8}");
  expect_refusal(*aligned, wide("4"), "out: 'assume: {align}' grants only 8 bytes");
  expect_text(code_of(*aligned, "2"), "atomicAdd((float2*)&out[");
}

}  // namespace
}  // namespace regraph::test::vector_atomics_test
