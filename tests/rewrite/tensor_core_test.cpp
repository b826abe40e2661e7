// Matrix products on tensor cores.
#include "rewrite/step_checks.h"

namespace regraph::test::tensor_core_test {
namespace {

// C = A * B with factors in the order of the indices that are given.
Result<std::unique_ptr<KernelCase>> product(const std::string& a, const std::string& b,
                                            const std::string& assume, const std::string& use = {},
                                            const std::string& term = {},
                                            const std::string& tests =
                                                "{M: 130, N: 70, K: 45}, {M: 64, N: 128, K: 32}, "
                                                "{M: 1, N: 3, K: 1}") {
  return KernelCase::make(
      "__global__ void product(const float* A, const float* B, float* C, int M, int N, int K) {\n"
      "  int row = blockIdx.y * blockDim.y + threadIdx.y;\n"
      "  int col = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (row < M && col < N) {\n    float sum = 0.0f;\n"
      "    for (int k = 0; k < K; ++k) sum += " +
          (term.empty() ? "A[" + a + "] * B[" + b + "]" : term) + ";\n    " +
          (use.empty() ? "C[row * N + col] = sum;" : use) + "\n  }\n}",
      "sizes: {M: 128, N: 128, K: 128}\n"
      "args: {A: {dir: in, shape: [M * K]}, B: {dir: in, shape: [K * N]}, C: {dir: inout, shape: "
      "[M, N]}}\nlaunch: {block: [16, 16], grid: ['cdiv(N, bx)', 'cdiv(M, by)']}\nassume: " +
          assume + "\ntests: [" + tests + "]\n");
}

constexpr const char* kGranted = "{noalias: true, reassociate: true, precision: any}";
constexpr const char* kRows = "row * K + k";
constexpr const char* kColumns = "k * N + col";

Application tensor(const char* tile, const char* depth, const char* stages = "3") {
  return {"tensor_core", {{"input", "tf32"}, {"tile", tile}, {"depth", depth}, {"stages", stages}}};
}

// With fragments loaded a step ahead.
Application ahead(const char* tile, const char* depth, const char* stages = "3") {
  Application result = tensor(tile, depth, stages);
  result.parameters["fragments"] = "2";
  return result;
}

TEST(TensorCore, MultipliesFactorsInEitherLayout) {
  for (const char* a : {kRows, "k * M + row"}) {
    for (const char* b : {kColumns, "col * K + k"}) {
      SCOPED_TRACE(std::string(a) + ", " + b);
      auto kernel = product(a, b, kGranted);
      ASSERT_TRUE(kernel.ok()) << kernel.error().message;
      const auto state = expect_correct(**kernel, {tensor("64x64", "16")});
      EXPECT_NE(source::print(state.unit).find("mma.sync"), std::string::npos);
      expect_correct(**kernel, {ahead("64x64", "16")});
    }
  }
}

// Tiles as library code has them: views with zeros outside, a template for types and sizes.
TEST(TensorCore, BeginsWithThePlainProductOfTiles) {
  const auto tiles = [](const std::string& behind) {
    return KernelCase::make(
        "template <typename T> struct Matrix {\n  T* data; int rows; int columns;\n"
        "  __device__ T get(int row, int column) const {\n"
        "    if (row >= rows || column >= columns) return T(0.0f);\n"
        "    return data[row * columns + column];\n  }\n"
        "  __device__ void set(int row, int column, T value) const {\n"
        "    if (row < rows && column < columns) data[row * columns + column] = value;\n  }\n};\n"
        "template <typename T, int kTile> __device__ void multiply(Matrix<const T> a, "
        "Matrix<const T> b, Matrix<T> c) {\n"
        "  __shared__ T as[kTile][kTile];\n  __shared__ T bs[kTile][kTile];\n"
        "  const int row = blockIdx.y * kTile + threadIdx.y;\n"
        "  const int column = blockIdx.x * kTile + threadIdx.x;\n  T sum = 0;\n"
        "  for (int k = 0; k < a.columns; k += kTile) {\n"
        "    as[threadIdx.y][threadIdx.x] = a.get(row, k + threadIdx.x);\n"
        "    bs[threadIdx.y][threadIdx.x] = b.get(k + threadIdx.y, column);\n"
        "    __syncthreads();\n    for (int i = 0; i < kTile; ++i)\n"
        "      sum += as[threadIdx.y][i] * bs[i][threadIdx.x];\n" +
            behind +
            "  }\n  c.set(row, column, sum);\n}\n"
            "__global__ void product(const float* A, const float* B, float* C, int M, int N, int "
            "K) "
            "{\n  multiply<float, 16>(Matrix<const float>{A, M, K}, Matrix<const float>{B, K, N}, "
            "Matrix<float>{C, M, N});\n}",
        "sizes: {M: 128, N: 128, K: 128}\nargs: {A: {dir: in, shape: [M * K]}, B: {dir: in, shape: "
        "[K * N]}, C: {dir: inout, shape: [M, N]}}\nlaunch: {block: [16, 16], grid: ['cdiv(N, "
        "16)', 'cdiv(M, 16)']}\nassume: {noalias: true, reassociate: true, precision: any}\n"
        "tests: [{M: 70, N: 50, K: 45}, {M: 1, N: 1, K: 1}]\n");
  };
  const auto kernel = tiles("    __syncthreads();\n");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const auto state = expect_correct(**kernel, {tensor("64x64", "16")});
  EXPECT_NE(source::print(state.unit).find("mma.sync"), std::string::npos);
  // What is left in the tile goes into the sum, too.
  const auto other = tiles("    __syncthreads();\n    sum += as[0][0];\n    __syncthreads();\n");
  ASSERT_TRUE(other.ok()) << other.error().message;
  expect_refusal(**other, tensor("64x64", "16"), "");
}

// A factor as the sum of two tf32 numbers: as exact as single precision, by tests that let one
// number alone not pass.
TEST(TensorCore, MultipliesSumsOfTwoNumbers) {
  constexpr const char* kSplit = "{noalias: true, reassociate: true, precision: tf32x3}";
  for (const char* a : {kRows, "k * M + row"}) {
    for (const char* b : {kColumns, "col * K + k"}) {
      SCOPED_TRACE(std::string(a) + ", " + b);
      auto kernel = product(a, b, kSplit);
      ASSERT_TRUE(kernel.ok()) << kernel.error().message;
      Application step = tensor("64x64", "16");
      expect_refusal(**kernel, step, "precision: any");
      step.parameters["input"] = "tf32x3";
      const auto state = expect_correct(**kernel, {step});
      EXPECT_NE(source::print(state.unit).find("mma.sync"), std::string::npos);
      expect_correct(**kernel, {[] {
        Application large = tensor("128x128", "16");
        large.parameters["input"] = "tf32x3";
        return large;
      }()});
    }
  }
  auto kept = product(kRows, kColumns, "{noalias: true, reassociate: true}");
  ASSERT_TRUE(kept.ok()) << kept.error().message;
  Application step = tensor("64x64", "16");
  step.parameters["input"] = "tf32x3";
  expect_refusal(**kept, step, "precision: tf32x3");
}

// Tensor cores cut off what a sum does not hold: in a long sum of one sign that adds up.
TEST(TensorCore, LongSumsOfTwoNumbersAreAsExact) {
  auto kernel = product(kRows, kColumns, "{noalias: true, reassociate: true, precision: tf32x3}",
                        {}, {}, "{M: 64, N: 64, K: 2048}");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  Application step = tensor("64x64", "16");
  step.parameters["input"] = "tf32x3";
  expect_correct(**kernel, {step});
}

TEST(TensorCore, TakesTilesOfAllSizes) {
  auto kernel = product(kRows, kColumns, kGranted, "C[row * N + col] += 2.0f * sum + 1.0f;");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  for (const Application& step :
       {tensor("64x64", "32"), tensor("128x128", "8"), tensor("128x128", "16"),
        tensor("128x128", "32"), tensor("256x128", "8", "4"), tensor("256x128", "16", "4"),
        tensor("256x128", "32"), tensor("128x256", "8", "2"), ahead("256x128", "32"),
        ahead("128x256", "16", "2"), ahead("64x64", "32", "6")}) {
    SCOPED_TRACE(step.parameters.at("tile") + ' ' + step.parameters.at("depth"));
    expect_correct(**kernel, {step});
  }
}

// More strips than stages, all of them inside but the last: places and pointers go round.
TEST(TensorCore, GoesFromStripToStrip) {
  for (const char* a : {kRows, "k * M + row"}) {
    for (const char* b : {kColumns, "col * K + k"}) {
      SCOPED_TRACE(std::string(a) + ", " + b);
      auto kernel = product(a, b, kGranted, {}, {}, "{M: 128, N: 256, K: 180}");
      ASSERT_TRUE(kernel.ok()) << kernel.error().message;
      for (const Application& step :
           {tensor("64x64", "8", "4"), ahead("64x64", "16"), ahead("128x128", "16", "2"),
            ahead("128x128", "32"), tensor("256x128", "16"), ahead("256x128", "32"),
            tensor("128x256", "32", "2")}) {
        SCOPED_TRACE(step.parameters.at("tile") + ' ' + step.parameters.at("depth"));
        expect_correct(**kernel, {step});
      }
    }
  }
}

TEST(TensorCore, AsksForSharedMemoryBeyondStaticArrays) {
  auto kernel = product(kRows, kColumns, kGranted);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const auto fits = expect_correct(**kernel, {tensor("128x128", "16")});
  EXPECT_EQ(fits.plan.launches.front().dynamic_shared_bytes.text(), "0");
  EXPECT_EQ(source::print(fits.unit).find("extern __shared__"), std::string::npos);
  const auto asks = expect_correct(**kernel, {tensor("128x128", "16", "4")});
  EXPECT_EQ(asks.plan.launches.front().dynamic_shared_bytes.text(), "65536");
  EXPECT_NE(source::print(asks.unit).find("extern __shared__"), std::string::npos);
  expect_refusal(**kernel, tensor("256x128", "32", "6"), "a block has 232448 at most");
}

TEST(TensorCore, FragmentsAheadNeedTwoStepsAStrip) {
  auto kernel = product(kRows, kColumns, kGranted);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const auto result =
      (*kernel)->apply((*kernel)->original(), "tensor_core", ahead("128x128", "8").parameters);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(result.error().message.find("'fragments' must be 1, or 2"), std::string::npos);
}

TEST(TensorCore, NeedsWhatTheProblemGrants) {
  for (const auto& [assume, reason] :
       {std::pair("{noalias: true, reassociate: true}", "precision"),
        std::pair("{noalias: true, reassociate: false, precision: any}", "reassociate"),
        std::pair("{noalias: false, reassociate: true, precision: any}", "noalias")}) {
    auto kernel = product(kRows, kColumns, assume);
    ASSERT_TRUE(kernel.ok()) << kernel.error().message;
    expect_refusal(**kernel, tensor("64x64", "16"), reason);
  }
}

TEST(TensorCore, TakesProductsAlone) {
  for (const char* term :
       {"A[row * K + k] * A[row * K + k]", "A[row * K + k] * B[k * N + col] * 2.0f + 1.0f",
        "A[row * K + k] + B[k * N + col]", "fabsf(A[row * K + k]) * B[k * N + col]",
        "A[row * K + k] * B[k]"}) {
    SCOPED_TRACE(term);
    auto kernel = product("", "", kGranted, "", term);
    ASSERT_TRUE(kernel.ok()) << kernel.error().message;
    const auto result =
        (*kernel)->apply((*kernel)->original(), "tensor_core", tensor("64x64", "16").parameters);
    if (!result.ok()) continue;
    EXPECT_EQ((*kernel)->verdict(*result), "correct");
  }
}

}  // namespace
}  // namespace regraph::test::tensor_core_test
