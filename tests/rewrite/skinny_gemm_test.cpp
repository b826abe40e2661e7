// Products of 16-bit matrices with few rows or columns.
#include "rewrite/step_checks.h"

#include <fmt/format.h>

namespace regraph::test::skinny_gemm_test {
namespace {

struct ProductText {
  std::string type = "__half";
  std::string to_float = "__half2float";
  std::string from_float = "__float2half";
  std::string a = "row * K + k";
  std::string b = "col * K + k";
  std::string use = {};  // of the sum
  std::string sum = "float sum = 0.0f;";
  std::string result = {};
  std::string assume = "{noalias: true, reassociate: true}";
  std::string sizes = "{M: 16, N: 512, K: 512}";
  std::string tests = "{M: 16, N: 96, K: 640}, {M: 3, N: 70, K: 45}, {M: 1, N: 3, K: 1}";
};

Result<std::unique_ptr<KernelCase>> product(const ProductText& text = {}) {
  const std::string header = text.type == "__nv_bfloat16" ? "cuda_bf16.h" : "cuda_fp16.h";
  const std::string result = text.result.empty() ? text.type : text.result;
  return KernelCase::make(
      "#include <" + header + ">\n__global__ void product(const " + text.type + "* A, const " +
          text.type + "* B, " + result +
          "* C, int M, int N, int K) {\n"
          "  int row = blockIdx.y * blockDim.y + threadIdx.y;\n"
          "  int col = blockIdx.x * blockDim.x + threadIdx.x;\n"
          "  if (row < M && col < N) {\n    " +
          text.sum + "\n    for (int k = 0; k < K; ++k) sum += " + text.to_float + "(A[" + text.a +
          "]) * " + text.to_float + "(B[" + text.b + "]);\n    " +
          (text.use.empty() ? "C[row * N + col] = " + text.from_float + "(sum);" : text.use) +
          "\n  }\n}",
      "sizes: " + text.sizes +
          "\nargs: {A: {dir: in, shape: [M * K]}, B: {dir: in, shape: [K * N]}, C: {dir: inout, "
          "shape: [M, N]}}\nlaunch: {block: [16, 16], grid: ['cdiv(N, bx)', 'cdiv(M, by)']}\n"
          "assume: " +
          text.assume + "\ntests: [" + text.tests + "]\n");
}

ProductText bytes() {
  ProductText text;
  text.type = "signed char";
  text.to_float = "(int)";
  text.sum = "int sum = 0;";
  text.use = "C[row * N + col] = 0.01f * (float)sum;";
  text.result = "float";
  text.tests += ", {M: 16, N: 96, K: 1040}";
  return text;
}

Application skinny(const char* tile = "32", const char* slices = "4", const char* stages = "4") {
  return {"skinny_gemm", {{"tile", tile}, {"slices", slices}, {"stages", stages}}};
}

TEST(SkinnyGemm, TakesBytesThatLieAlongK) {
  ProductText text = bytes();
  auto kernel = product(text);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  for (const Application& step : {skinny(), skinny("64", "4", "3")}) {
    const auto state = expect_correct(**kernel, {step});
    EXPECT_NE(source::print(state.unit).find("m16n8k32.row.col.s32.s8.s8.s32"), std::string::npos);
  }
  text.b = "k * N + col";
  auto across = product(text);
  ASSERT_TRUE(across.ok()) << across.error().message;
  expect_refusal(**across, skinny(), "neighbours in memory");
}

TEST(SkinnyGemm, MultipliesFactorsInEitherLayout) {
  for (const char* a : {"row * K + k", "k * M + row"}) {
    for (const char* b : {"k * N + col", "col * K + k"}) {
      SCOPED_TRACE(std::string(a) + ", " + b);
      ProductText text;
      text.a = a;
      text.b = b;
      text.tests += ", {M: 16, N: 104, K: 640}, {M: 8, N: 64, K: 1000}";
      auto kernel = product(text);
      ASSERT_TRUE(kernel.ok()) << kernel.error().message;
      for (const Application& step :
           {skinny(), skinny("16", "2", "2"), skinny("64", "4", "3"), skinny("16", "8", "4")}) {
        SCOPED_TRACE(step.parameters.at("tile"));
        const auto state = expect_correct(**kernel, {step});
        EXPECT_NE(source::print(state.unit).find("mma.sync.aligned.m16n8k16"), std::string::npos);
      }
    }
  }
}

// The tile has as many rows as the problem, up to 64, in either type; strips go round the stages.
TEST(SkinnyGemm, TakesOneTo64Rows) {
  for (const char* type : {"__half", "__nv_bfloat16"}) {
    for (const int rows : {1, 3, 16, 33, 64}) {
      SCOPED_TRACE(fmt::format("{} rows of {}", rows, type));
      ProductText text;
      if (type != text.type) {
        text.type = type;
        text.to_float = "__bfloat162float";
        text.from_float = "__float2bfloat16";
      }
      text.sizes = fmt::format("{{M: {}, N: 512, K: 512}}", rows);
      text.tests = fmt::format(
          "{{M: {0}, N: 64, K: 1600}}, {{M: {0}, N: 41, K: 96}}, {{M: {0}, N: 7, K: 33}}", rows);
      auto kernel = product(text);
      ASSERT_TRUE(kernel.ok()) << kernel.error().message;
      expect_correct(**kernel, {skinny()});
      expect_correct(**kernel, {skinny("64", "4", "2")});
    }
  }
}

// What is decided at the sizes that the kernel is to be fast on holds for others.
TEST(SkinnyGemm, TakesMoreRowsThanTheTileHas) {
  ProductText text;
  text.tests = "{M: 40, N: 64, K: 256}, {M: 129, N: 33, K: 72}";
  auto kernel = product(text);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_correct(**kernel, {skinny()});
}

TEST(SkinnyGemm, TakesFewColumns) {
  for (const char* b : {"k * N + col", "col * K + k"}) {
    ProductText text;
    text.b = b;
    text.sizes = "{M: 512, N: 24, K: 512}";
    text.tests = "{M: 100, N: 24, K: 640}, {M: 70, N: 5, K: 45}";
    auto kernel = product(text);
    ASSERT_TRUE(kernel.ok()) << kernel.error().message;
    expect_correct(**kernel, {skinny()});
  }
}

TEST(SkinnyGemm, TakesAnyUseOfTheSum) {
  ProductText text;
  text.result = "float";
  text.use = "C[row * N + col] = 2.0f * sum + 0.5f * C[row * N + col];";
  auto kernel = product(text);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_correct(**kernel, {skinny()});
}

// A warp waits for its own copies and for no other warp's; lines outside are asked for no bytes.
// Sixteen of them are a vector, of which a tile of 16 by 16 has fewer than a warp has lanes.
TEST(SkinnyGemm, StoresBytesOfNarrowTiles) {
  ProductText text = bytes();
  text.use = "C[row * N + col] = (signed char)(sum >> 8);";
  text.result = "signed char";
  auto kernel = product(text);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_correct(**kernel, {skinny("16")});
}

TEST(SkinnyGemm, WarpsWaitForThemselves) {
  auto kernel = product();
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const auto state = expect_correct(**kernel, {skinny()});
  const std::string code = source::print(state.unit);
  EXPECT_NE(code.find("__syncwarp"), std::string::npos);
  EXPECT_NE(code.find(", 16, %3; }"), std::string::npos);
}

TEST(SkinnyGemm, RefusesWhatItCannotDo) {
  ProductText strict;
  strict.assume = "{noalias: true, reassociate: false}";
  auto exact = product(strict);
  ASSERT_TRUE(exact.ok()) << exact.error().message;
  expect_refusal(**exact, skinny(), "reassociate");
  ProductText large;
  large.sizes = "{M: 65, N: 512, K: 512}";
  auto square = product(large);
  ASSERT_TRUE(square.ok()) << square.error().message;
  expect_refusal(**square, skinny(), "65 by 512 elements, where a skinny one has at most 64");
  ProductText wide;
  wide.type = wide.result = "float";
  wide.to_float = wide.from_float = "";
  auto single = product(wide);
  ASSERT_TRUE(single.ok()) << single.error().message;
  expect_refusal(**single, skinny(), "not of 16 or 8 bits");
  auto kernel = product();
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_refusal(**kernel, skinny("64", "8", "4"), "bytes of shared memory");
}

}  // namespace
}  // namespace regraph::test::skinny_gemm_test
