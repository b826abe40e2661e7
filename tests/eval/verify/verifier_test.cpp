#include "eval/verify/verifier.h"

#include "eval/verify/verifier_test_support.h"

#include <thread>

namespace regraph::verifier_test {
namespace {

using test::Bench;
using test::compiled;
using test::kSeed;
using test::kSync;
using test::launch;
using test::matmul;
using test::pointer;
using test::scalar;
using test::tiled;

// --- Reduction ---

constexpr const char* kReduceTree = R"cuda(
__global__ void k(const float* x, float* partial, int N) {
  __shared__ float s[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = i < N ? x[i] : 0.0f;
  __syncthreads();
  for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
    if (threadIdx.x < stride) s[threadIdx.x] += s[threadIdx.x + stride];
    __syncthreads();
  }
  if (threadIdx.x == 0) partial[blockIdx.x] = s[0];
}
)cuda";

std::string shuffle_reduction(const std::string& mistake_in_combination) {
  return R"cuda(
__global__ void k(const float* x, float* partial, int N) {
  __shared__ float s[8];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = i < N ? x[i] : 0.0f;
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    v = threadIdx.x < )cuda" +
         mistake_in_combination + R"cuda( ? s[threadIdx.x] : 0.0f;
    for (int d = 4; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
    if (threadIdx.x == 0) partial[blockIdx.x] = v;
  }
}
)cuda";
}

TEST(Verifier, ReductionByShuffleEqualsReductionByTree) {
  Bench bench(R"yaml(
sizes: {N: 1000000}
args: {x: {shape: [N]}, partial: {dir: out, shape: ["cdiv(N, 256)"]}}
launch: {block: 256, grid: "cdiv(N, bx)"}
tests: [{N: 1000}, {N: 4096}, {N: 1}]
)yaml",
              {pointer("x", true), pointer("partial", false), scalar("N")}, kReduceTree);
  const VerificationResult result = bench.verify(shuffle_reduction("8"));
  EXPECT_TRUE(result.correct()) << result.message;
  bench.expect(Verdict::wrong_result, shuffle_reduction("7"), "'partial'");
}

// --- Accumulation, partial outputs, integers, atomics ---

TEST(Verifier, InOutBuffersAreRestoredBeforeEveryRun) {
  const std::string yaml = R"yaml(
sizes: {N: 4096}
args: {x: {shape: [N]}, y: {dir: inout, shape: [N]}, a: 2.5}
launch: {block: 128, grid: "cdiv(N, bx)"}
tests: [{N: 300}, {N: 512}]
)yaml";
  const auto axpy = [](const std::string& body) {
    return "__global__ void k(const float* x, float* y, float a, int N) {\n"
           "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < N) " +
           body + "\n}\n";
  };
  Bench bench(yaml,
              {pointer("x", true), pointer("y", false), scalar("a", ScalarType::f32), scalar("N")},
              axpy("y[i] += a * x[i];"));
  EXPECT_TRUE(bench.check_original().ok());
  VerificationResult result = bench.verify(axpy("y[i] = fmaf(a, x[i], y[i]);"));
  EXPECT_TRUE(result.correct()) << result.message;
  bench.expect(Verdict::wrong_result, axpy("y[i] = a * x[i];"), "'y'");
  bench.expect(Verdict::wrong_result, axpy("y[i] += 2 * a * x[i];"), "'y'");
}

TEST(Verifier, ElementsTheOriginalLeavesAloneMustStay) {
  const std::string yaml = R"yaml(
sizes: {N: 4096}
args: {x: {shape: [N]}, y: {dir: out, shape: [N]}}
launch: {block: 128, grid: "cdiv(N, bx)"}
tests: [{N: 300}]
)yaml";
  const auto kernel = [](const std::string& body) {
    return "__global__ void k(const float* x, float* y, int N) {\n"
           "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
           body + "\n}\n";
  };
  Bench bench(yaml, {pointer("x", true), pointer("y", false), scalar("N")},
              kernel("if (i < N && i % 3 != 0) y[i] = x[i] + 1;"));
  ASSERT_TRUE(bench.check_original().ok());
  EXPECT_TRUE(bench.verify(kernel("if (i >= N) return; if (i % 3) y[i] = 1 + x[i];")).correct());
  bench.expect(Verdict::wrong_result, kernel("if (i < N) y[i] = x[i] + 1;"), "leaves it alone");
  bench.expect(Verdict::wrong_result, kernel("if (i < N && i % 3 == 1) y[i] = x[i] + 1;"),
               "not written");
}

TEST(Verifier, IntegerHistogramsWithAtomicsAreExact) {
  const std::string yaml = R"yaml(
sizes: {N: 100000, B: 16}
args: {data: {shape: [N], init: "int(0,15)"}, bins: {dir: inout, shape: [B], init: "int(0,0)"}}
launch: {block: 128, grid: "cdiv(N, bx)"}
tests: [{N: 1000}, {N: 1}]
)yaml";
  const auto kernel = [](const std::string& body) {
    return "__global__ void k(const int* data, unsigned int* bins, int N, int B) {\n"
           "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
           body + "\n}\n";
  };
  Bench bench(yaml,
              {pointer("data", true, ScalarType::i32), pointer("bins", false, ScalarType::u32),
               scalar("N"), scalar("B")},
              kernel("if (i < N) atomicAdd(&bins[data[i]], 1u);"));
  const auto warnings = bench.check_original();
  ASSERT_TRUE(warnings.ok()) << warnings.error().message;
  VerificationResult result = bench.verify(kernel(
      "__shared__ unsigned int s[16]; if (threadIdx.x < 16) s[threadIdx.x] = 0; __syncthreads();"
      "if (i < N) atomicAdd(&s[data[i]], 1u); __syncthreads();"
      "if (threadIdx.x < 16 && s[threadIdx.x] != 0) atomicAdd(&bins[threadIdx.x], "
      "s[threadIdx.x]);"));
  EXPECT_TRUE(result.correct()) << result.message;
  bench.expect(Verdict::wrong_result,
               kernel("if (i < N - 1 || N == 1) if (i < N) atomicAdd(&bins[data[i]], 1u);"),
               "'bins'");
}

TEST(Verifier, ResultsThatDependOnBlockOrderAreARace) {
  const std::string yaml = R"yaml(
sizes: {N: 4096}
args: {x: {shape: [N]}, y: {dir: inout, shape: [N]}}
launch: {block: 64, grid: "cdiv(N, bx)"}
tests: [{N: 256}]
)yaml";
  const auto kernel = [](const std::string& body) {
    return "__global__ void k(const float* x, float* y, int N) {\n"
           "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
           body + "\n}\n";
  };
  Bench bench(yaml, {pointer("x", true), pointer("y", false), scalar("N")},
              kernel("if (i < N) y[i] = x[i] + (i >= 64 ? x[i - 64] : 0.0f);"));
  // Reads what the block before it wrote: right only when blocks run in order.
  bench.expect(
      Verdict::data_race,
      kernel("if (i < N) { y[i] = x[i]; if (i + 64 < N) {} }"
             "if (i < N && i >= 64) { y[i] = x[i] + y[i - 64] - (i >= 128 ? x[i - 128] : 0.0f); }"),
      "order");
}

TEST(Verifier, DivisionsAndExponentialsAreComparedWithTolerance) {
  const std::string yaml = R"yaml(
sizes: {R: 512, C: 512}
args: {x: {shape: [R, C]}, y: {dir: out, shape: [R, C]}}
launch: {block: 128, grid: "R"}
tests: [{R: 7, C: 100}, {R: 4, C: 128}, {R: 1, C: 1}]
)yaml";
  const std::string head =
      "__global__ void k(const float* x, float* y, int R, int C) {\n"
      "  const float* row = x + blockIdx.x * C; float* out = y + blockIdx.x * C;\n";
  const std::string naive =
      head +
      "  float top = -INFINITY, sum = 0;\n"
      "  for (int i = 0; i < C; ++i) top = fmaxf(top, row[i]);\n"
      "  for (int i = 0; i < C; ++i) sum += expf(row[i] - top);\n"
      "  for (int i = threadIdx.x; i < C; i += blockDim.x) out[i] = expf(row[i] - top) / sum;\n}\n";
  Bench bench(yaml, {pointer("x", true), pointer("y", false), scalar("R"), scalar("C")}, naive);
  ASSERT_TRUE(bench.check_original().ok());
  const VerificationResult online =
      bench.verify(head +
                   "  float top = -INFINITY, sum = 0;\n"
                   "  for (int i = 0; i < C; ++i) { float t = fmaxf(top, row[i]);\n"
                   "    sum = sum * expf(top - t) + expf(row[i] - t); top = t; }\n"
                   "  float scale = 1.0f / sum;\n"
                   "  for (int i = threadIdx.x; i < C; i += blockDim.x) out[i] = expf(row[i] - "
                   "top) * scale;\n}\n");
  EXPECT_TRUE(online.correct()) << online.message;
  // Without the maximum large inputs overflow.
  bench.expect(
      Verdict::wrong_result,
      head +
          "  float sum = 0;\n  for (int i = 0; i < C; ++i) sum += expf(row[i]);\n"
          "  for (int i = threadIdx.x; i < C; i += blockDim.x) out[i] = expf(row[i]) / sum;\n}\n",
      "large");
}

// 2^-24 times N(0,1) would be denormal in half precision, where results hardly tell functions
// apart.
TEST(Verifier, HalvesNearZeroAreNoDenormals) {
  const std::string head =
      "#include <cuda_fp16.h>\n"
      "__global__ void k(const __half* x, __half* y, int N) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i >= N) return;\n"
      "  float v = __half2float(x[i]);\n";
  Bench bench(
      R"yaml(
sizes: {N: 4096}
args: {x: {shape: [N]}, y: {dir: out, shape: [N]}}
launch: {block: 128, grid: ["cdiv(N, bx)"]}
tests: [{N: 100}, {N: 256}, {N: 1}]
)yaml",
      {pointer("x", true, ScalarType::f16), pointer("y", false, ScalarType::f16), scalar("N")},
      head + "  y[i] = __float2half(0.5f * v * (1.0f + tanhf(0.8f * v)));\n}\n");
  ASSERT_TRUE(bench.check_original().ok());
  const VerificationResult quotient =
      bench.verify(head + "  y[i] = __float2half(v / (1.0f + expf(-1.6f * v)));\n}\n");
  EXPECT_TRUE(quotient.correct()) << quotient.message;
  bench.expect(Verdict::wrong_result,
               head + "  y[i] = __float2half(v / (1.0f + expf(-1.7f * v)));\n}\n", "is");
}

TEST(Verifier, QuotientsThatHappenToBeWholeMayRound) {
  // With one column every result is 1 or -1, and an honest reciprocal root gives 0.99999994.
  const std::string yaml = R"yaml(
sizes: {R: 512, C: 512}
args: {x: {shape: [R, C], init: "uniform(1, 2)"}, y: {dir: out, shape: [R, C]}}
launch: {block: 64, grid: "R"}
tests: [{R: 40, C: 1}, {R: 3, C: 50}]
)yaml";
  const auto kernel = [](const std::string& scale) {
    return "__global__ void k(const float* x, float* y, int R, int C) {\n"
           "  const float* row = x + blockIdx.x * C; float* out = y + blockIdx.x * C;\n"
           "  float sum = 1e-30f;\n  for (int i = 0; i < C; ++i) sum += row[i] * row[i];\n"
           "  for (int i = threadIdx.x; i < C; i += blockDim.x) out[i] = " +
           scale + ";\n}\n";
  };
  Bench bench(yaml, {pointer("x", true), pointer("y", false), scalar("R"), scalar("C")},
              kernel("row[i] / sqrtf(sum)"));
  const VerificationResult result = bench.verify(kernel("row[i] * rsqrtf(sum)"));
  EXPECT_TRUE(result.correct()) << result.message;
  EXPECT_GT(result.relative_error, 0.0);
}

// --- Originals that are wrong themselves ---

TEST(Verifier, FaultyOriginalsAreErrorsThatSayWhere) {
  const std::string yaml = R"yaml(
sizes: {N: 4096}
args: {x: {shape: [N]}, y: {dir: out, shape: [N]}}
launch: {block: 128, grid: "cdiv(N, bx)"}
tests: [{N: 300}]
)yaml";
  const std::vector<Parameter> parameters = {pointer("x", true), pointer("y", false), scalar("N")};
  const auto error_of = [&](const std::string& source) {
    Bench bench(yaml, parameters, source);
    const auto result = bench.check_original();
    EXPECT_FALSE(result.ok());
    return result.ok() ? "" : result.error().message;
  };
  std::string message = error_of(
      "__global__ void k(const float* x, float* y, int N) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  y[i] = x[i];\n}\n");
  EXPECT_NE(message.find("line 3"), std::string::npos) << message;
  EXPECT_NE(message.find("original"), std::string::npos) << message;
  EXPECT_NE(message.find("N: 300"), std::string::npos) << message;

  message = error_of("__global__ void k(const float* x, float* y, int N) { }\n");
  EXPECT_NE(message.find("writes nothing to 'y'"), std::string::npos) << message;

  message = error_of(
      "__global__ void k(const float* x, float* y, int N) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < N) y[i] += x[i];\n}\n");
  EXPECT_NE(message.find("dir: inout"), std::string::npos) << message;

  Bench constant(yaml, parameters,
                 "__global__ void k(const float* x, float* y, int N) {\n"
                 "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                 "  if (i < N) y[i] = 1.0f;\n}\n");
  const auto warnings = constant.check_original();
  ASSERT_TRUE(warnings.ok()) << warnings.error().message;
  ASSERT_EQ(warnings->size(), 1u);
  EXPECT_NE(warnings->front().find("same for all"), std::string::npos);
}

// --- Seeds, threads, cancellation ---

TEST(Verifier, IsDeterministicAndSeedsDiffer) {
  Bench bench = matmul();
  const std::string source = tiled(kSync, kSync);
  const auto plan = bench.problem().launch.launches.front();
  const VerificationResult a = bench.verify(source, plan, 1);
  const VerificationResult b = bench.verify(source, plan, 1);
  const VerificationResult c = bench.verify(source, plan, 2);
  EXPECT_TRUE(a.correct() && b.correct() && c.correct());
  EXPECT_EQ(a.relative_error, b.relative_error);
  EXPECT_EQ(a.thread_instructions, b.thread_instructions);
  Bench other = matmul();
  const VerificationResult d = other.verify(
      "__global__ void k(const float* A, const float* B, float* C, float alpha, int M, int N, int "
      "K) {"
      " C[0] = 0; }");
  const VerificationResult e = other.verify(
      "__global__ void k(const float* A, const float* B, float* C, float alpha, int M, int N, int "
      "K) {"
      " C[0] = 0; }");
  EXPECT_EQ(d.message, e.message);
}

TEST(Verifier, ManyThreadsShareOneVerifier) {
  Bench bench = matmul();
  const CompiledKernel good = compiled(tiled(kSync, kSync));
  const CompiledKernel bad = compiled(tiled("", kSync));
  const LaunchPlan plan = bench.problem().launch;
  std::vector<std::thread> threads;
  std::vector<int> right(4, 0);
  for (std::size_t t = 0; t < right.size(); ++t) {
    threads.emplace_back([&, t] {
      const Cancellation never;
      for (std::uint64_t seed = 0; seed < 3; ++seed) {
        if (bench.verifier().verify(good, plan, seed, never).correct()) ++right[t];
        if (bench.verifier().verify(bad, plan, seed, never).verdict == Verdict::data_race)
          ++right[t];
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  for (const int count : right)
    EXPECT_EQ(count, 6);
}

TEST(Verifier, CancellationIsReportedAndForgotten) {
  Bench bench = matmul();
  Cancellation cancellation;
  cancellation.request();
  const CompiledKernel good = compiled(tiled(kSync, kSync));
  const LaunchPlan plan = bench.problem().launch;
  EXPECT_TRUE(bench.verifier().verify(good, plan, kSeed, cancellation).cancelled);
  const Cancellation never;
  const VerificationResult result = bench.verifier().verify(good, plan, kSeed, never);
  EXPECT_TRUE(result.correct()) << result.message;
}

}  // namespace
}  // namespace regraph::verifier_test
