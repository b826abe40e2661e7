// Matrix products on tensor cores.
#include "rewrite/step_checks.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace regraph::test {
namespace {

// C = A * B with factors in the order of the indices that are given.
Result<std::unique_ptr<KernelCase>> product(const std::string& a, const std::string& b,
                                            const std::string& assume, const std::string& use = {},
                                            const std::string& term = {}) {
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
          assume +
          "\ntests: [{M: 130, N: 70, K: 45}, {M: 64, N: 128, K: 32}, {M: 1, N: 3, K: 1}]\n");
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

// By which factors are multiplied with rounding=scaled.
constexpr const char* kScale = "1.00033845";

TEST(TensorCore, RoundsByAMultiplicationToo) {
  auto kernel = product(kRows, kColumns, kGranted);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  Application step = ahead("128x128", "16");
  step.parameters["rounding"] = "scaled";
  const auto state = expect_correct(**kernel, {step});
  EXPECT_EQ(source::print(state.unit).find("cvt."), std::string::npos);
  EXPECT_NE(source::print(state.unit).find("value * " + std::string(kScale) + "f"),
            std::string::npos);
  step.parameters["rounding"] = "up";
  const auto result = (*kernel)->apply((*kernel)->original(), "tensor_core", step.parameters);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::invalid_argument);
}

// What that number is chosen for.
TEST(TensorCore, TheScaleRoundsWithoutBias) {
  const float scale = std::stof(kScale);
  constexpr int kSamples = 1 << 20;
  constexpr double kUnit = 1.0 / 2048;
  double sum = 0.0;
  double worst = 0.0;
  const auto cut = [scale](double value) {
    const float scaled = static_cast<float>(value) * scale;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(scaled) & 0xffffe000U);
  };
  for (int sample = 0; sample < kSamples; ++sample) {
    const double value = static_cast<float>(1.0 + (sample + 0.5) / kSamples);
    const double error = cut(value) / value - 1.0;
    sum += error;
    worst = std::max(worst, std::abs(error));
  }
  EXPECT_LT(std::abs(sum / kSamples), 0.01 * kUnit);
  EXPECT_LT(worst, 1.32 * kUnit);
  for (int number = 0; number <= 2048; ++number)
    EXPECT_EQ(cut(number), static_cast<float>(number));
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
}  // namespace regraph::test
