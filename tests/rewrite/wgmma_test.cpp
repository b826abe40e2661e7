// Products of 16-bit matrices on Hopper's tensor cores.
#include "rewrite/step_checks.h"

namespace regraph::test::wgmma_test {
namespace {

struct ProductText {
  std::string type = "__half";
  std::string to_float = "__half2float";
  std::string a = "row * K + k";
  std::string b = "k * N + col";
  std::string term = {};
  std::string use = "C[row * N + col] = __float2half(sum);";
  std::string result = "__half";
  std::string assume = "{noalias: true, reassociate: true}";
  std::string tests = "{M: 130, N: 70, K: 45}, {M: 128, N: 256, K: 128}, {M: 1, N: 3, K: 1}";
};

Result<std::unique_ptr<KernelCase>> product(const ProductText& text = {}) {
  const std::string header = text.type == "__half" ? "cuda_fp16.h" : "cuda_bf16.h";
  return KernelCase::make(
      "#include <" + header + ">\n__global__ void product(const " + text.type + "* A, const " +
          text.type + "* B, " + text.result +
          "* C, int M, int N, int K) {\n"
          "  int row = blockIdx.y * blockDim.y + threadIdx.y;\n"
          "  int col = blockIdx.x * blockDim.x + threadIdx.x;\n"
          "  if (row < M && col < N) {\n    float sum = 0.0f;\n"
          "    for (int k = 0; k < K; ++k) sum += " +
          (text.term.empty()
               ? text.to_float + "(A[" + text.a + "]) * " + text.to_float + "(B[" + text.b + "])"
               : text.term) +
          ";\n    " + text.use + "\n  }\n}",
      "sizes: {M: 128, N: 128, K: 128}\n"
      "args: {A: {dir: in, shape: [M * K]}, B: {dir: in, shape: [K * N]}, C: {dir: inout, shape: "
      "[M, N]}}\nlaunch: {block: [16, 16], grid: ['cdiv(N, bx)', 'cdiv(M, by)']}\nassume: " +
          text.assume + "\ntests: [" + text.tests + "]\n");
}

Application wgmma(const char* columns = "256", const char* rows = "128", const char* stages = "4") {
  return {"wgmma", {{"columns", columns}, {"rows", rows}, {"stages", stages}}};
}

TEST(Wgmma, MultipliesFactorsInEitherLayout) {
  for (const char* a : {"row * K + k", "k * M + row"}) {
    for (const char* b : {"k * N + col", "col * K + k"}) {
      SCOPED_TRACE(std::string(a) + ", " + b);
      ProductText text;
      text.a = a;
      text.b = b;
      auto kernel = product(text);
      ASSERT_TRUE(kernel.ok()) << kernel.error().message;
      const auto state = expect_correct(**kernel, {wgmma()});
      const std::string code = source::print(state.unit);
      EXPECT_NE(code.find("wgmma.mma_async"), std::string::npos);
      EXPECT_NE(code.find("cp.async.bulk.tensor.2d"), std::string::npos);
    }
  }
}

// Strips inside of the matrices go round the stages; tiles of all shapes.
TEST(Wgmma, GoesFromStripToStrip) {
  for (const char* b : {"k * N + col", "col * K + k"}) {
    ProductText text;
    text.b = b;
    text.tests = "{M: 256, N: 256, K: 456}";
    auto kernel = product(text);
    ASSERT_TRUE(kernel.ok()) << kernel.error().message;
    for (const Application& step :
         {wgmma("256", "128", "2"), wgmma("128", "256"), wgmma("128", "128", "6")}) {
      SCOPED_TRACE(step.parameters.at("columns") + ' ' + b);
      expect_correct(**kernel, {step});
    }
  }
}

TEST(Wgmma, TakesBfloat16AndAnyUseOfTheSum) {
  ProductText text;
  text.type = "__nv_bfloat16";
  text.to_float = "__bfloat162float";
  text.result = "float";
  text.use = "C[row * N + col] = 2.0f * sum + 0.5f * C[row * N + col];";
  auto kernel = product(text);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const auto state = expect_correct(**kernel, {wgmma()});
  EXPECT_NE(source::print(state.unit).find(".f32.bf16.bf16"), std::string::npos);
}

TEST(Wgmma, ReadsConversionsByOperators) {
  ProductText text;
  text.to_float = "static_cast<float>";
  text.use = "C[row * N + col] = (__half)sum;";
  auto kernel = product(text);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_correct(**kernel, {wgmma()});
}

// Neighbours are stored together.
TEST(Wgmma, StoresByVectors) {
  auto kernel = product();
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const auto state = expect_correct(**kernel, {wgmma()});
  EXPECT_NE(source::print(state.unit).find("*(uint4*)&"), std::string::npos);
}

Application mma(const char* tile, const char* stages = "3", bool ahead = false) {
  Application step = {"tensor_core",
                      {{"input", "half"}, {"tile", tile}, {"depth", "64"}, {"stages", stages}}};
  if (ahead) step.parameters["fragments"] = "2";
  return step;
}

// The same by mma.sync, for devices before Hopper and small matrices.
TEST(Wgmma, HasATwinForOtherDevices) {
  for (const char* a : {"row * K + k", "k * M + row"}) {
    for (const char* b : {"k * N + col", "col * K + k"}) {
      SCOPED_TRACE(std::string(a) + ", " + b);
      ProductText text;
      text.a = a;
      text.b = b;
      text.tests += ", {M: 128, N: 256, K: 330}";
      auto kernel = product(text);
      ASSERT_TRUE(kernel.ok()) << kernel.error().message;
      const auto state = expect_correct(**kernel, {mma("128x128")});
      const std::string code = source::print(state.unit);
      EXPECT_NE(code.find("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"), std::string::npos);
      EXPECT_NE(code.find("ldmatrix"), std::string::npos);
      expect_correct(**kernel, {mma("64x64", "4")});
      expect_correct(**kernel, {mma("128x128", "2", true)});
    }
  }
}

TEST(Wgmma, TwinTakesLargerTiles) {
  ProductText text;
  text.type = "__nv_bfloat16";
  text.to_float = "__bfloat162float";
  text.use = "C[row * N + col] = __float2bfloat16(sum * 0.5f);";
  text.result = text.type;
  text.tests = "{M: 256, N: 256, K: 200}, {M: 33, N: 65, K: 17}";
  auto kernel = product(text);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  for (const Application& step : {mma("256x128", "3", true), mma("128x256")}) {
    SCOPED_TRACE(step.parameters.at("tile"));
    expect_correct(**kernel, {step});
  }
}

TEST(Wgmma, RefusesWhatItCannotDo) {
  ProductText text;
  text.assume = "{noalias: true, reassociate: false}";
  auto strict = product(text);
  ASSERT_TRUE(strict.ok()) << strict.error().message;
  expect_refusal(**strict, wgmma(), "reassociate");
  // The products would be rounded to half first.
  ProductText narrow;
  narrow.term = "__half2float(A[row * K + k] * B[k * N + col])";
  auto rounded = product(narrow);
  ASSERT_TRUE(rounded.ok()) << rounded.error().message;
  expect_refusal(**rounded, wgmma(), "products");
  auto wide = product();
  ASSERT_TRUE(wide.ok()) << wide.error().message;
  expect_refusal(**wide, wgmma("256", "128", "8"), "bytes of shared memory");
}

}  // namespace
}  // namespace regraph::test::wgmma_test
