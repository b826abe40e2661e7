// Products of matrices on Hopper's tensor cores.
#include "rewrite/step_checks.h"

namespace regraph::test::wgmma_test {
namespace {

struct ProductText {
  std::string type = "__half";
  std::string to_float = "__half2float";
  std::string a = "row * K + k";
  std::string b = "k * N + col";
  std::string before = {};  // in the loop
  std::string term = {};
  std::string use = "C[row * N + col] = __float2half(sum);";
  std::string result = "__half";
  std::string sum = "float sum = 0.0f;";
  std::string assume = "{noalias: true, reassociate: true}";
  std::string tests = "{M: 130, N: 70, K: 45}, {M: 128, N: 256, K: 128}, {M: 1, N: 3, K: 1}";
};

Result<std::unique_ptr<KernelCase>> product(const ProductText& text = {}) {
  const std::string header = text.type == "__nv_bfloat16" ? "cuda_bf16.h" : "cuda_fp16.h";
  return KernelCase::make(
      "#include <" + header + ">\n__global__ void product(const " + text.type + "* A, const " +
          text.type + "* B, " + text.result +
          "* C, int M, int N, int K) {\n"
          "  int row = blockIdx.y * blockDim.y + threadIdx.y;\n"
          "  int col = blockIdx.x * blockDim.x + threadIdx.x;\n"
          "  if (row < M && col < N) {\n    " +
          text.sum + "\n    for (int k = 0; k < K; ++k) {\n" + text.before + "      sum += " +
          (text.term.empty()
               ? text.to_float + "(A[" + text.a + "]) * " + text.to_float + "(B[" + text.b + "])"
               : text.term) +
          ";\n    }\n    " + text.use + "\n  }\n}",
      "sizes: {M: 128, N: 128, K: 128}\n"
      "args: {A: {dir: in, shape: [M * K]}, B: {dir: in, shape: [K * N]}, C: {dir: inout, shape: "
      "[M, N]}}\nlaunch: {block: [16, 16], grid: ['cdiv(N, bx)', 'cdiv(M, by)']}\nassume: " +
          text.assume + "\ntests: [" + text.tests + "]\n");
}

Application wgmma(const char* columns = "256", const char* rows = "128", const char* stages = "4") {
  return {"wgmma", {{"columns", columns}, {"rows", rows}, {"stages", stages}}};
}

TEST(Wgmma, FactorsMayHaveNamesInSinglePrecision) {
  ProductText text;
  text.before =
      "      float a = __half2float(A[row * K + k]);\n"
      "      const float b = __half2float(B[k * N + col]);\n";
  text.term = "a * b";
  auto kernel = product(text);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_correct(**kernel, {wgmma()});
}

// A number of the thread that holds batch, row and column.
TEST(Wgmma, KnowsElementsByOneNumber) {
  const auto flat = [](const std::string& column) {
    return KernelCase::make(
        "#include <cuda_fp16.h>\n__global__ void product(const __half* A, const __half* B, __half* "
        "C, int P, int M, int N, int K) {\n"
        "  int at = blockIdx.x * blockDim.x + threadIdx.x;\n  if (at >= P * M * N) return;\n"
        "  int col = " +
            column +
            ";\n  int row = (at / N) % M;\n  int batch = at / (M * N);\n  float sum = 0.0f;\n"
            "  for (int k = 0; k < K; ++k)\n"
            "    sum += __half2float(A[batch * M * K + row * K + k]) * __half2float(B[k * N + "
            "col]);\n"
            "  C[at] = __float2half(sum);\n}",
        "sizes: {P: 2, M: 64, N: 128, K: 64}\n"
        "args: {A: {dir: in, shape: [P, M, K]}, B: {dir: in, shape: [K, N]}, C: {dir: inout, "
        "shape: "
        "[P, M, N]}}\nlaunch: {block: 256, grid: 'cdiv(P * M * N, bx)'}\n"
        "assume: {noalias: true, reassociate: true}\n"
        "tests: [{P: 3, M: 21, N: 35, K: 45}, {P: 1, M: 1, N: 1, K: 1}]\n");
  };
  const auto kernel = flat("at % N");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_correct(**kernel, {wgmma()});
  // The column before.
  const auto other = flat("(at + N - 1) % N");
  ASSERT_TRUE(other.ok()) << other.error().message;
  expect_refusal(**other, wgmma(), "is no polynomial of the thread's place in the grid");
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

// A product for each block along z, whose maps begin elsewhere.
TEST(Wgmma, TakesBatches) {
  auto kernel = KernelCase::make(
      "#include <cuda_fp16.h>\n__global__ void product(const __half* A, const __half* B, __half* "
      "C, "
      "int M, int N, int K) {\n"
      "  int row = blockIdx.y * blockDim.y + threadIdx.y;\n"
      "  int col = blockIdx.x * blockDim.x + threadIdx.x;\n  int z = blockIdx.z;\n"
      "  if (row < M && col < N) {\n    float sum = 0.0f;\n"
      "    for (int k = 0; k < K; ++k) sum += __half2float(A[z * M * K + row * K + k]) * "
      "__half2float(B[z * K * N + k * N + col]);\n"
      "    C[z * M * N + row * N + col] = __float2half(sum);\n  }\n}",
      "sizes: {Z: 4, M: 128, N: 128, K: 128}\n"
      "args: {A: {dir: in, shape: [Z, M, K]}, B: {dir: in, shape: [Z, K, N]}, C: {dir: out, shape: "
      "[Z, M, N]}}\nlaunch: {block: [16, 16], grid: ['cdiv(N, bx)', 'cdiv(M, by)', Z]}\n"
      "assume: {noalias: true, reassociate: true}\n"
      "tests: [{Z: 3, M: 136, N: 264, K: 72}, {Z: 2, M: 5, N: 7, K: 9}]\n");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const auto state = expect_correct(**kernel, {wgmma()});
  EXPECT_NE(source::print(state.unit).find("cp.async.bulk.tensor.2d"), std::string::npos);
}

ProductText singles(const std::string& a, const std::string& b) {
  ProductText text;
  text.type = "float";
  text.to_float = "";
  text.a = a;
  text.b = b;
  text.use = "C[row * N + col] = sum * 0.5f;";
  text.result = "float";
  text.assume = "{noalias: true, reassociate: true, precision: any}";
  text.tests = "{M: 130, N: 70, K: 45}, {M: 256, N: 264, K: 200}, {M: 1, N: 3, K: 1}";
  return text;
}

ProductText bytes(const std::string& a, const std::string& b) {
  ProductText text = singles(a, b);
  text.type = "signed char";
  text.to_float = "(int)";
  text.sum = "int sum = 0;";
  text.use = "C[row * N + col] = sum;";
  text.result = "int";
  text.assume = "{noalias: true, reassociate: false}";
  text.tests = "{M: 130, N: 70, K: 45}, {M: 256, N: 272, K: 400}, {M: 1, N: 3, K: 1}";
  return text;
}

struct Layout {
  const char* a;
  const char* b;
  bool from_registers;
};
// One factor at least has neighbours along k.
constexpr Layout kLayouts[] = {{"row * K + k", "col * K + k", false},
                               {"row * K + k", "k * N + col", true},
                               {"k * M + row", "col * K + k", true}};

// The factor that lies across k goes through registers, and fills the instruction's rows.
TEST(Wgmma, TakesSinglePrecisionAsTf32) {
  for (const Layout& layout : kLayouts) {
    for (const Application& step : {wgmma(), wgmma("128", "256", "2"), wgmma("128", "128", "6")}) {
      SCOPED_TRACE(std::string(layout.a) + ", " + layout.b + ' ' + step.parameters.at("rows"));
      auto kernel = product(singles(layout.a, layout.b));
      ASSERT_TRUE(kernel.ok()) << kernel.error().message;
      const auto state = expect_correct(**kernel, {step});
      const std::string code = source::print(state.unit);
      EXPECT_NE(code.find("k8.f32.tf32.tf32"), std::string::npos);
      EXPECT_EQ(code.find("cvt.rna.tf32") != std::string::npos, layout.from_registers);
    }
  }
}

TEST(Wgmma, TakesBytes) {
  for (const Layout& layout : kLayouts) {
    SCOPED_TRACE(std::string(layout.a) + ", " + layout.b);
    auto kernel = product(bytes(layout.a, layout.b));
    ASSERT_TRUE(kernel.ok()) << kernel.error().message;
    const bool is_tall = std::string(layout.a) == "k * M + row";
    const auto state =
        expect_correct(**kernel, {is_tall ? wgmma("128", "256", "4") : wgmma("256", "128", "4")});
    const std::string code = source::print(state.unit);
    EXPECT_NE(code.find("k32.s32.s8.s8"), std::string::npos);
    EXPECT_EQ(code.find("__byte_perm") != std::string::npos, layout.from_registers);
  }
}

// Else ptxas waits after each product, and says so (C7510 to C7519).
TEST(Wgmma, ProductsOfStripsOverlap) {
  for (const Layout& layout : kLayouts) {
    for (const bool is_bytes : {false, true}) {
      SCOPED_TRACE(std::string(layout.a) + ", " + layout.b + (is_bytes ? " bytes" : ""));
      ProductText text = is_bytes ? bytes(layout.a, layout.b) : singles(layout.a, layout.b);
      text.tests = "{M: 1, N: 3, K: 1}";
      auto kernel = product(text);
      ASSERT_TRUE(kernel.ok()) << kernel.error().message;
      const bool is_tall = std::string(layout.a) == "k * M + row";
      const Application step = is_tall ? wgmma("128", "256") : wgmma();
      const auto state = (*kernel)->apply((*kernel)->original(), step.step, step.parameters);
      ASSERT_TRUE(state.ok()) << state.error().message;
      const auto compiled = (*kernel)->compile(source::print(state->unit));
      ASSERT_TRUE(compiled.ok()) << compiled.error().message;
      EXPECT_EQ(compiled->log.find("wgmma.mma_async instructions are serialized"),
                std::string::npos)
          << compiled->log;
    }
  }
}

TEST(Wgmma, TakesBytesWithoutSignsAndAnyUseOfTheSum) {
  ProductText text = bytes("row * K + k", "col * K + k");
  text.type = "unsigned char";
  text.term = "A[row * K + k] * B[col * K + k]";
  text.result = "float";
  text.use = "C[row * N + col] = 0.01f * (float)sum + 1.0f;";
  auto kernel = product(text);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const auto state = expect_correct(**kernel, {wgmma("128", "128", "6")});
  EXPECT_NE(source::print(state.unit).find("s32.u8.u8"), std::string::npos);
}

TEST(Wgmma, RefusesWhatTensorCoresDoNotRead) {
  auto across = product(singles("k * M + row", "k * N + col"));
  ASSERT_TRUE(across.ok()) << across.error().message;
  expect_refusal(**across, wgmma(), "no factor's neighbours in memory differ in k");
  ProductText exact = singles("row * K + k", "col * K + k");
  exact.assume = "{noalias: true, reassociate: true}";
  auto kept = product(exact);
  ASSERT_TRUE(kept.ok()) << kept.error().message;
  expect_refusal(**kept, wgmma(), "precision: any");
  auto narrow = product(bytes("row * K + k", "k * N + col"));
  ASSERT_TRUE(narrow.ok()) << narrow.error().message;
  expect_refusal(**narrow, wgmma("128", "256"), "'columns' must be 256");
  // A byte's product in single precision may not be exact.
  ProductText rounded = bytes("row * K + k", "col * K + k");
  rounded.sum = "float sum = 0.0f;";
  rounded.to_float = "(float)";
  rounded.result = "float";
  rounded.assume = "{noalias: true, reassociate: true}";
  auto floats = product(rounded);
  ASSERT_TRUE(floats.ok()) << floats.error().message;
  expect_refusal(**floats, wgmma(), "float, half or bfloat16");
}

TEST(Wgmma, RefusesProductsOfDoubles) {
  ProductText text;
  text.term = "(double)__half2float(A[row * K + k]) * (double)__half2float(B[k * N + col])";
  auto kernel = product(text);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_refusal(**kernel, wgmma(), "single precision");
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

TEST(Wgmma, HasATwinForBytes) {
  ProductText text = bytes("row * K + k", "col * K + k");
  text.tests += ", {M: 128, N: 256, K: 530}";
  auto kernel = product(text);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  for (const char* tile : {"128x128", "64x64", "256x128"}) {
    SCOPED_TRACE(tile);
    Application step = {"tensor_core",
                        {{"input", "int8"}, {"tile", tile}, {"depth", "128"}, {"stages", "3"}}};
    const bool is_large = step.parameters["tile"] == "256x128";
    if (is_large) step.parameters["fragments"] = "2";
    const auto state = expect_correct(**kernel, {step});
    EXPECT_NE(source::print(state.unit).find("m16n8k32.row.col.s32.s8.s8.s32"), std::string::npos);
  }
  auto across = product(bytes("row * K + k", "k * N + col"));
  ASSERT_TRUE(across.ok()) << across.error().message;
  expect_refusal(
      **across,
      {"tensor_core", {{"input", "int8"}, {"tile", "64x64"}, {"depth", "128"}, {"stages", "3"}}},
      "neighbours in memory");
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
