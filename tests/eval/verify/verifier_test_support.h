// Problems, candidates and what must become of them, compiled by the real NVRTC.
#pragma once

#include "eval/real_compiler.h"
#include "eval/verify/verifier.h"
#include "kernel/manifest.h"

#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace regraph::test {

// Compiles with the real NVRTC; equal sources are compiled once a program.
inline CompiledKernel compiled(const std::string& source, const std::string& kernel = "k") {
  static std::mutex mutex;
  static std::map<std::string, CompiledKernel> done;
  const std::lock_guard lock(mutex);
  const auto found = done.find(source + "\n" + kernel);
  if (found != done.end()) return found->second;
  static Compiler compiler(real_configuration());
  CompileRequest request = request_for(source, kernel);
  request.want_cubin = false;
  const Cancellation never;
  const auto result = compiler.compile(request, never);
  EXPECT_TRUE(result.ok()) << result.error().message << "\n" << source;
  if (!result.ok()) return {};
  return done[source + "\n" + kernel] = *result;
}

inline Parameter pointer(std::string name, bool to_const, ScalarType type = ScalarType::f32) {
  return {std::move(name), type, true, to_const, 1};
}
inline Parameter scalar(std::string name, ScalarType type = ScalarType::i32) {
  return {std::move(name), type, false, false, 1};
}

inline Problem problem_of(const std::string& yaml, std::vector<Parameter> parameters) {
  const auto manifest = parse_manifest(yaml, "k.yaml");
  EXPECT_TRUE(manifest.ok()) << manifest.error().message;
  auto problem = make_problem(*manifest, {"k", std::move(parameters)}, "k.cu", "");
  EXPECT_TRUE(problem.ok()) << problem.error().message;
  return *problem;
}

inline Launch launch(Dim3 block, const char* x, const char* y = "1", const char* smem = "0") {
  return {"k",
          block,
          {*IntegerExpression::parse(x), *IntegerExpression::parse(y), 1},
          *IntegerExpression::parse(smem)};
}

inline constexpr std::uint64_t kSeed = 20240501;

// A problem, its original kernel, and candidates tried against it.
class Bench {
 public:
  Bench(const std::string& yaml, std::vector<Parameter> parameters, const std::string& original)
      : problem_(problem_of(yaml, std::move(parameters))),
        verifier_(problem_, compiled(original)) {}

  VerificationResult verify(const std::string& source, const Launch& plan,
                            std::uint64_t seed = kSeed) {
    const Cancellation never;
    return verifier_.verify(compiled(source), LaunchPlan{{plan}}, seed, never);
  }
  VerificationResult verify(const std::string& source) {
    return verify(source, problem_.launch.launches.front());
  }
  Result<std::vector<std::string>> check_original() {
    const Cancellation never;
    return verifier_.check_original(kSeed, never);
  }
  void expect(Verdict verdict, const std::string& source, const std::string& word,
              std::optional<Launch> plan = std::nullopt) {
    const VerificationResult result = plan ? verify(source, *plan) : verify(source);
    EXPECT_STREQ(name(result.verdict), name(verdict)) << result.message;
    EXPECT_NE(result.message.find(word), std::string::npos) << result.message;
    EXPECT_LT(result.message.size(), 600u) << result.message;
  }
  Verifier& verifier() { return verifier_; }
  const Problem& problem() const { return problem_; }

 private:
  Problem problem_;
  Verifier verifier_;
};

// --- Matrix product ---

inline constexpr const char* kMatmul = R"cuda(
__global__ void k(const float* A, const float* B, float* C, float alpha, int M, int N, int K) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < M && col < N) {
    float sum = 0.0f;
    for (int i = 0; i < K; ++i) sum += A[row * K + i] * B[i * N + col];
    C[row * N + col] = alpha * sum;
  }
}
)cuda";

inline Bench matmul() {
  return Bench(R"yaml(
sizes: {M: 4096, N: 4096, K: 4096}
args: {A: {shape: [M, K]}, B: {shape: [K, N]}, C: {dir: out, shape: [M, N]}, alpha: 1.5}
launch: {block: [16, 16], grid: ["cdiv(N, bx)", "cdiv(M, by)"]}
tests: [{M: 70, N: 50, K: 45}, {M: 64, N: 64, K: 64}, {M: 1, N: 1, K: 1}]
)yaml",
               {pointer("A", true), pointer("B", true), pointer("C", false),
                scalar("alpha", ScalarType::f32), scalar("M"), scalar("N"), scalar("K")},
               kMatmul);
}

// The tile loop of a correct kernel with holes for mistakes.
inline std::string tiled(
    const std::string& first_barrier, const std::string& second_barrier,
    const std::string& store = "if (row < M && col < N) C[row * N + col] = alpha * sum;",
    const std::string& load_guard = "row < M && t + tx < K") {
  return R"cuda(
#define T 16
__global__ void k(const float* A, const float* B, float* C, float alpha, int M, int N, int K) {
  __shared__ float a[T][T];
  __shared__ float b[T][T];
  int tx = threadIdx.x, ty = threadIdx.y;
  int col = blockIdx.x * T + tx, row = blockIdx.y * T + ty;
  float sum = 0.0f;
  for (int t = 0; t < K; t += T) {
    a[ty][tx] = ()cuda" +
         load_guard + R"cuda() ? A[row * K + t + tx] : 0.0f;
    b[ty][tx] = (t + ty < K && col < N) ? B[(t + ty) * N + col] : 0.0f;
    )cuda" +
         first_barrier + R"cuda(
    for (int i = 0; i < T; ++i) sum += a[ty][i] * b[i][tx];
    )cuda" +
         second_barrier + R"cuda(
  }
  )cuda" +
         store + "\n}\n";
}

inline const std::string kSync = "__syncthreads();";

}  // namespace regraph::test
