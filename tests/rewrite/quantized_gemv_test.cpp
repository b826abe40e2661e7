// Products of 4-bit weights and a vector.
#include "rewrite/analysis/quantized_product.h"
#include "rewrite/step_checks.h"

#include <fmt/format.h>

#include <memory>
#include <set>
#include <string>
#include <utility>

namespace regraph::test::quantized_gemv_test {
namespace {

// A product as it is written by hand, of which tests vary the pieces. Words are `weights`, a row of
// them `row_words`; what the loop does adds to `sum`.
struct Kernel {
  std::string type = "__half";
  std::string word_type = "unsigned int";
  std::string row_words = "16 * groups";  // of a row
  std::string loop;                       // over words
  std::string start = "0.0f";
  std::string behind = "y[row] = from_float(sum);";
  std::string guard = "if (row >= rows) return;";
  std::string tests = "[{rows: 37, groups: 3}, {rows: 18, groups: 10}, {rows: 1, groups: 1}]";
  std::string assume = "{noalias: true, reassociate: true}";
};

// A group an iteration: `term` of the weight q and the element v.
Kernel of_groups(const std::string& term = "q * scale * v", const std::string& zero = " - 8") {
  Kernel kernel;
  kernel.loop =
      "for (int g = 0; g < groups; g++) {\n"
      "    float scale = to_float(scales[row * groups + g]);\n"
      "    for (int w = 0; w < 16; w++) {\n"
      "      const unsigned int word = words[(row * groups + g) * 16 + w];\n"
      "      for (int j = 0; j < 8; j++) {\n"
      "        const int q = (int)((word >> (4 * j)) & 0xF)" +
      zero +
      ";\n        const float v = to_float(x[g * 128 + w * 8 + j]);\n        sum += " + term +
      ";\n      }\n    }\n  }";
  return kernel;
}

// A word an iteration, of any number of them.
Kernel of_words(
    const std::string& scale = "to_float(scales[(long)row * ((groups + 15) / 16) + c / 16])") {
  Kernel kernel;
  kernel.row_words = "groups";
  kernel.loop =
      "for (int c = 0; c < groups; ++c) {\n"
      "    const unsigned int word = words[(long)row * groups + c];\n    const float s = " +
      scale +
      ";\n    for (int j = 0; j < 8; ++j)\n"
      "      sum += s * (float)((int)((word >> (4 * j)) & 15) - 8) * to_float(x[c * 8 + j]);\n  }";
  kernel.tests =
      "[{rows: 37, groups: 48}, {rows: 18, groups: 45}, {rows: 33, groups: 150}, {rows: 1, groups: "
      "1}]";
  return kernel;
}

std::string source_of(const Kernel& kernel) {
  const bool is_half = kernel.type == "__half";
  return fmt::format(
      "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#define to_float {1}\n#define from_float "
      "{2}\n"
      "__global__ void gemv(const {3}* words, const {0}* scales, const {0}* x, {0}* y, int rows,\n"
      "                     int groups) {{\n"
      "  const int row = blockIdx.x * blockDim.x + threadIdx.x;\n  {4}\n  float sum = {5};\n  {6}\n"
      "  {7}\n}}\n",
      kernel.type, is_half ? "__half2float" : "__bfloat162float",
      is_half ? "__float2half" : "__float2bfloat16", kernel.word_type, kernel.guard, kernel.start,
      kernel.loop, kernel.behind);
}

std::unique_ptr<KernelCase> made(const Kernel& kernel) {
  const std::string source = source_of(kernel);
  auto result = KernelCase::make(
      source, fmt::format("sizes: {{rows: 4096, groups: 32}}\nargs:\n"
                          "  words: {{dir: in, shape: [rows, '{}'], init: 'int({})'}}\n"
                          "  scales: {{dir: in, shape: [rows, groups], init: 'uniform(-1,1)'}}\n"
                          "  x: {{dir: in, shape: ['256 * groups'], init: normal}}\n"
                          "  y: {{dir: inout, shape: [rows], init: normal}}\n"
                          "launch: {{block: 64, grid: 'cdiv(rows, bx)'}}\ntests: {}\nassume: {}\n",
                          kernel.row_words,
                          kernel.word_type == "int" ? "-2147483648, 2147483647" : "0, 4294967295",
                          kernel.tests, kernel.assume));
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message) << source;
  return result.ok() ? std::move(*result) : nullptr;
}

Application step(const char* warps = "4", const char* rows = "16") {
  return {"quantized_gemv", {{"warps", warps}, {"rows", rows}}};
}

std::string code_of(const Kernel& kernel, const Application& applied = step()) {
  const auto one = made(kernel);
  if (one == nullptr) return "";
  return source::print(expect_correct(*one, {applied}).unit);
}

void expect_refused(const Kernel& kernel, const std::string& reason) {
  const auto one = made(kernel);
  if (one != nullptr) expect_refusal(*one, step(), reason);
}

Result<rewrite::QuantizedProduct> product_of(const Kernel& kernel) {
  const auto one = made(kernel);
  if (one == nullptr) return fail(ErrorCode::internal, "no kernel");
  return rewrite::find_quantized_product(one->analysis(one->original()));
}

TEST(QuantizedProduct, IsOfGroups) {
  const auto product = product_of(of_groups());
  ASSERT_TRUE(product.ok()) << product.error().message;
  EXPECT_EQ(product->weights.array, "words");
  EXPECT_EQ(product->elements.array, "x");
  EXPECT_EQ(product->element, ScalarType::f16);
  EXPECT_EQ(product->words, 16);
  EXPECT_EQ(product->group, 16);
  EXPECT_EQ(product->zero, 8);
  EXPECT_EQ(product->sum, "sum");
  EXPECT_EQ(product->start, nullptr);
  EXPECT_TRUE(product->elements.index.is_zero());
  EXPECT_EQ(product->divisible(product->weights, 4), std::set<std::string>{});
}

TEST(QuantizedProduct, IsOfWords) {
  Kernel kernel = of_words("to_float(scales[row]) * to_float(scales[row + c / 32])");
  kernel.start = "to_float(y[row])";
  EXPECT_EQ(product_of(kernel).error().message, "where the sum begins depends on 'y'");
  kernel.start = "to_float(scales[row])";
  const auto product = product_of(kernel);
  ASSERT_TRUE(product.ok()) << product.error().message;
  EXPECT_EQ(product->words, 1);
  EXPECT_EQ(product->group, 32);
  EXPECT_NE(product->start, nullptr);
  EXPECT_TRUE(product->weights.is_wide);
  EXPECT_FALSE(product->elements.is_wide);
  EXPECT_EQ(product->divisible(product->weights, 4), std::set<std::string>{"groups"});
}

TEST(QuantizedGemv, MultipliesGroupsOnTensorCores) {
  const std::string code = code_of(of_groups());
  expect_text(code, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32");
  expect_text(code, "*(uint4*)");
}

// Groups of another number of words than four lanes load at once.
TEST(QuantizedGemv, TakesGroupsOfOtherSizes) {
  for (const auto& [words, vector] :
       {std::pair(4, ""), std::pair(8, ".v2"), std::pair(12, ""), std::pair(32, ".v4")}) {
    SCOPED_TRACE(words);
    Kernel kernel = of_groups();
    const auto replace = [&](const std::string& from, const std::string& to) {
      kernel.loop.replace(kernel.loop.find(from), from.size(), to);
    };
    replace("w < 16", fmt::format("w < {}", words));
    replace("* 16 + w", fmt::format("* {} + w", words));
    replace("g * 128", fmt::format("g * {}", 8 * words));
    kernel.row_words = fmt::format("{} * groups", words);
    const std::string code = code_of(kernel);
    expect_text(code, fmt::format("ld.global.nc.L1::no_allocate.L2::256B{}.u32", vector));
    // Two chunks of 16 words are a whole group.
    if (words == 32) expect_no_text(code, "left");
  }
}

TEST(QuantizedGemv, TakesOtherTiles) {
  code_of(of_groups(), step("8", "16"));
  code_of(of_groups(), step("4", "32"));
  code_of(of_words(), step("8", "32"));
}

TEST(QuantizedGemv, TakesAnyNumberOfWords) {
  const std::string code = code_of(of_words());
  expect_text(code, "left");
  expect_text(code, "groups % 4 == 0");
}

TEST(QuantizedGemv, TakesQuotientsForGroups) {
  code_of(of_words("to_float(scales[row * groups + (c >> 3)])"));
  code_of(of_words("to_float(scales[row * groups + 8 * c / 32])"));
  expect_refused(of_words("to_float(scales[row * groups + c / 2])"),
                 "the scale does not stay the same for a multiple of four words");
  expect_refused(of_words("to_float(scales[row * groups + c % 16])"),
                 "the scale does not stay the same for a multiple of four words");
}

TEST(QuantizedGemv, TakesOneScaleForARow) {
  code_of(of_words("to_float(scales[row])"));
  code_of(of_words("0.5f"));
  Kernel kernel = of_words("1.0f");
  kernel.start = "to_float(scales[row])";
  kernel.behind = "if (sum > 0.0f) y[row] = from_float(sum + to_float(y[row]));";
  code_of(kernel);
}

TEST(QuantizedGemv, TakesBfloat16) {
  for (const char* zero : {" - 8", ""}) {
    Kernel kernel = of_groups("scale * q * v", zero);
    kernel.type = "__nv_bfloat16";
    expect_text(code_of(kernel), "f32.bf16.bf16.f32");
  }
}

TEST(QuantizedGemv, TakesOtherZeros) {
  for (const char* zero : {"", " - 15", " + (-3)"}) {
    SCOPED_TRACE(zero);
    code_of(of_groups("(float)q * v * scale", zero));
  }
  code_of(of_groups("((float)q - 7.0f) * v * scale", ""));
  expect_refused(of_groups("q * v * scale", " - 16"),
                 "other things than products of 4-bit weights");
  expect_refused(of_groups("q * v * scale", " + 1"), "other things than products of 4-bit weights");
  // Less than zero would be more than four billion.
  expect_refused(of_groups("(float)((word >> 4 * j & 15) - 8) * v * scale", ""),
                 "other things than products of 4-bit weights");
  code_of(of_groups("(float)(int)((word >> 4 * j & 15) - 8) * v * scale", ""));
}

TEST(QuantizedGemv, TakesWordsWithASign) {
  Kernel kernel = of_groups();
  kernel.word_type = "int";
  code_of(kernel);
}

TEST(QuantizedGemv, MultipliesPartialSumsOut) {
  Kernel kernel = of_words();
  kernel.loop =
      "for (int c = 0; c < groups; ++c) {\n    unsigned int word = words[row * groups + c];\n"
      "    float part = 0.0f;\n#pragma unroll\n"
      "    for (int j = 0; j < 8; ++j) {\n"
      "      part = fmaf((float)(word & 15) - 8.0f, to_float(x[c * 8 + j]), part);\n"
      "      word >>= 4;\n    }\n"
      "    const float scaled = part * to_float(scales[row * groups + c / 16]);\n"
      "    sum += scaled;\n  }";
  code_of(kernel);
}

TEST(QuantizedGemv, ReadsRowsThatAreThere) {
  Kernel kernel = of_groups();
  kernel.guard = "if (row >= rows || row >= groups + 5) return;";
  code_of(kernel);
}

TEST(QuantizedGemv, TakesElementsThatAreNotAligned) {
  Kernel kernel = of_words();
  kernel.loop.replace(kernel.loop.find("c * 8 + j"), 9, "c * 8 + j + 3");
  expect_no_text(code_of(kernel), "no_allocate");
}

TEST(QuantizedGemv, TakesUnrolledWords) {
  Kernel kernel = of_words();
  kernel.loop =
      "for (int c = 0; c < groups; ++c) {\n    const unsigned int word = words[row * groups + "
      "c];\n";
  kernel.loop += "    sum += to_float(scales[row * groups + c / 16]) * (";
  for (int j = 0; j < 8; ++j) {
    kernel.loop +=
        fmt::format("{}((float)(int)((word & 0x{:x}u) >> {}) - 8.0f) * to_float(x[c * 8 + {}])",
                    j == 0 ? "" : " + ", 15U << (4 * j), 4 * j, j);
  }
  kernel.loop += ");\n  }";
  code_of(kernel);
}

// A block a row, whose threads share out the words.
TEST(QuantizedGemv, TakesBlocksForRows) {
  auto kernel = KernelCase::make(
      "#include <cuda_fp16.h>\n"
      "__global__ void gemv(const unsigned int* words, const __half* scales, const __half* x,\n"
      "                     __half* y, int rows, int groups) {\n"
      "  __shared__ float warp_sums[4];\n  const int row = blockIdx.x;\n  float sum = 0.0f;\n"
      "  for (int w = threadIdx.x; w < 16 * groups; w += 128) {\n"
      "    const unsigned int word = words[row * 16 * groups + w];\n    float part = 0.0f;\n"
      "    for (int j = 0; j < 8; ++j)\n"
      "      part += (float)((int)(word >> 4 * j & 15) - 8) * __half2float(x[8 * w + j]);\n"
      "    sum += __half2float(scales[row * groups + w / 16]) * part;\n  }\n"
      "  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);\n"
      "  if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = sum;\n  __syncthreads();\n"
      "  float total = 0.0f;\n  for (int i = 0; i < 4; ++i) total += warp_sums[i];\n"
      "  if (threadIdx.x == 0) y[row] = __float2half(total);\n}\n",
      "sizes: {rows: 4096, groups: 32}\nargs:\n"
      "  words: {dir: in, shape: [rows, 16 * groups], init: 'int(0, 4294967295)'}\n"
      "  scales: {dir: in, shape: [rows, groups], init: 'uniform(-1,1)'}\n"
      "  x: {dir: in, shape: [128 * groups], init: normal}\n  y: {dir: out, shape: [rows]}\n"
      "launch: {block: 128, grid: rows}\ntests: [{rows: 37, groups: 3}, {rows: 1, groups: 1}]\n"
      "assume: {noalias: true, reassociate: true}\n");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_correct(**kernel, {step()});
}

TEST(QuantizedGemv, RefusesOtherKernels) {
  Kernel kernel = of_groups();
  kernel.assume = "{noalias: true, reassociate: false}";
  expect_refused(kernel, "assume: {reassociate: true}");
  expect_refused(of_groups("q * v * to_float(scales[row * groups + w % groups])"),
                 "is not the same for all words of a group");
  expect_refused(of_groups("q * v * v"), "is not the same for all words of a group");
  expect_refused(of_groups("q * scale * to_float(x[g * 128 + w * 8 + 7 - j])"),
                 "do not follow each other evenly");
  expect_refused(of_groups("q * scale * to_float(x[row])"), "elements of a vector");
  Kernel leaves = of_groups();
  leaves.behind = "atomicAdd(&y[row], from_float(sum));";
  expect_refused(leaves, "what is done with the sum is more than to store it");
  expect_refusal(*sample("narrow_product"), step(), "no array has weights in words of 32 bits");
}

}  // namespace
}  // namespace regraph::test::quantized_gemv_test
