// What the elements of a vector have in common is computed once, and what follows from an element's
// number in its vector is a number.
#include "rewrite/vector_checks.h"

#include <string>

namespace regraph::test::common_values_test {
namespace {

// `body` of element i < rows * d, with a word for eight of them and a scale for a group of them.
std::unique_ptr<KernelCase> made(const std::string& body, const std::string& type = "float") {
  return kernel_of(
      "#include <cuda_fp16.h>\n__global__ void f(const " + type +
          "* in, const unsigned int* words, const float* scales, " + type +
          "* out, float* rest, int rows, int d, int group) {\n"
          "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < rows * d) {\n" +
          body + "\n  }\n}",
      "sizes: {rows: 64, d: 64, group: 16}\n"
      "args: {in: {shape: [rows, d], init: normal}, "
      "words: {shape: [rows, d], init: 'int(0, 4294967295)'}, scales: {shape: [rows, d], init: "
      "normal}, out: {dir: inout, shape: [rows, d]}, rest: {dir: inout, shape: [rows, d]}}\n"
      "launch: {block: 128, grid: 'cdiv(rows * d, bx)'}\n"
      "tests: [{rows: 5, d: 48, group: 8}, {rows: 3, d: 37, group: 5}, {rows: 7, d: 4, group: "
      "24}]\n"
      "assume: {noalias: true}\n");
}

std::string code_after(const std::string& body, const std::string& width,
                       const std::string& type = "float") {
  SCOPED_TRACE(body);
  return code_with_vectors(made(body, type), width);
}

std::size_t count(const std::string& code, const std::string& text) {
  std::size_t found = 0;
  for (std::size_t at = code.find(text); at != std::string::npos; at = code.find(text, at + 1))
    ++found;
  return found;
}

TEST(CommonValues, AWordOfFourBitsIsLoadedOnce) {
  const std::string code = code_after(
      "    unsigned int word = words[i / 8];\n    int q = (int)((word >> (4 * (i % 8))) & 15) - "
      "8;\n"
      "    out[i] = __float2half(q * scales[i / 16]);",
      "8", "__half");
  // Once for a vector and once for the elements that go one by one.
  EXPECT_EQ(count(code, "words["), 2U) << code;
  EXPECT_EQ(count(code, "scales["), 2U) << code;
  expect_text(code, ">> 28 &");
}

TEST(CommonValues, DigitsMayBeSaidByMasksAndShifts) {
  const std::string code =
      code_after("    out[i] = __float2half((float)((words[i >> 3] >> ((i & 7) << 2)) & 15u));",
                 "8", "__half");
  EXPECT_EQ(count(code, "words["), 2U) << code;
  // Words of 8 bits of a vector of eight: two of them, as a vector.
  const std::string bytes = code_after(
      "    out[i] = __float2half((float)((words[i / 4] >> (8 * (i % 4))) & 255u));", "8", "__half");
  expect_text(bytes, "uint2 words_vector");
  expect_text(bytes, "words_vector.y >> 24");
  // A number without a sign stays one.
  code_after("    unsigned int u = i; out[i] = (float)((u % 4u - 9u) / 65536u);", "4");
}

TEST(CommonValues, GroupsOfAnySizeAreAskedForWhenTheKernelRuns) {
  const std::string code = code_after("    out[i] = in[i] * scales[i / group];", "4");
  expect_text(code, "group % 4 == 0");
  expect_text(code, "float4 out_vector2");
  EXPECT_EQ(count(code, "scales["), 1U + 4U + 1U) << code;
}

TEST(CommonValues, OfARowIsKnownWhereItIs) {
  const std::string code = code_after(
      "    int row = i / d;\n    float v = in[row] + expf(scales[row]);\n    out[i] = v * i;\n"
      "    if (i % d == 0) rest[row] = logf(v);",
      "4");
  EXPECT_EQ(count(code, "expf(scales["), 1U + 4U + 1U) << code;
  EXPECT_EQ(count(code, "float4 out_vector"), 2U) << code;
}

// A row of a head a block, as attention's states are merged: with one row its block has no work.
TEST(CommonValues, ShortRowsAreOneFirst) {
  const std::string source =
      "__global__ void f(const float* in, const float* scales, float* out, float* rest, int rows, "
      "int heads, int d) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i >= d) return;\n  int row = blockIdx.z * heads + blockIdx.y;\n"
      "  float peak = fmaxf(scales[row], 0.5f);\n  out[row * d + i] = in[row * d + i] * peak;\n"
      "  if (i == 0) rest[row] = peak + 1.0f;\n}";
  const auto manifest = [](const std::string& d) {
    return "sizes: {rows: 64, heads: 4, d: " + d +
           "}\nargs: {in: {shape: [rows, heads, d], init: normal}, scales: {shape: [rows, heads], "
           "init: normal}, out: {dir: out, shape: [rows, heads, d]}, rest: {dir: inout, shape: "
           "[rows, heads]}}\nlaunch: {block: 64, grid: ['cdiv(d, bx)', heads, rows]}\n"
           "tests: [{rows: 5, heads: 2, d: 48}, {rows: 3, heads: 3, d: 37}, {rows: 1, heads: 1, d: "
           "1}]\nassume: {noalias: true}\n";
  };
  const Application flat = {"vectorize_global", {{"form", "flat"}, {"width", "4"}}};
  const auto kernel = KernelCase::make(source, manifest("64"));
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const auto state = expect_correct(**kernel, {flat});
  EXPECT_EQ(state.plan.launches[0].grid[1].text(), "1");
  const std::string code = source::print(state.unit);
  expect_text(code, "float4 out_vector");
  EXPECT_EQ(count(code, "fmaxf(scales["), 1U + 4U + 1U) << code;
  const auto longer = KernelCase::make(source, manifest("4096"));
  ASSERT_TRUE(longer.ok()) << longer.error().message;
  expect_refusal(**longer, flat, "rows are long enough");
}

TEST(CommonValues, GuardsMayBeCommon) {
  auto kernel = KernelCase::make(
      "__global__ void f(const float* in, const int* kept, float* out, int rows, int d) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < rows * d && kept[i / d] > 0) out[i] = 2.0f * in[i];\n}",
      "sizes: {rows: 64, d: 64}\nargs: {in: {shape: [rows, d], init: normal}, kept: {shape: "
      "[rows], "
      "init: 'int(0, 1)'}, out: {dir: inout, shape: [rows, d]}}\n"
      "launch: {block: 128, grid: 'cdiv(rows * d, bx)'}\n"
      "tests: [{rows: 5, d: 48}, {rows: 3, d: 37}]\nassume: {noalias: true}\n");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_text(source::print(expect_correct(**kernel, {wide("4")}).unit), "d % 4 == 0");
}

TEST(CommonValues, OthersStayAsTheyAre) {
  const auto stays = [](const std::string& body, std::size_t loads) {
    EXPECT_EQ(count(code_after(body, "4"), "scales["), loads) << body;
  };
  // A group of three; one that begins elsewhere; a number that is not the element's.
  stays("    out[i] = in[i] * scales[i / 3];", 5);
  stays("    out[i] = in[i] * scales[(i + 1) / 4];", 5);
  stays("    out[i] = in[i] * scales[(signed char)i / 64 + 2];", 5);
  // Under a condition of its own the element may not be there.
  stays("    float s = 1.0f; if (words[i] > 7u) s = scales[i / 4]; out[i] = in[i] * s;", 5);
}

}  // namespace
}  // namespace regraph::test::common_values_test
