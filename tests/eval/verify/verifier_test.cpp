#include "eval/verify/verifier.h"

#include "eval/real_compiler.h"
#include "kernel/manifest.h"

#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <thread>

namespace regraph {
namespace {

// Compiles with the real NVRTC; equal sources are compiled once a program.
CompiledKernel compiled(const std::string& source, const std::string& kernel = "k") {
  static std::mutex mutex;
  static std::map<std::string, CompiledKernel> done;
  const std::lock_guard lock(mutex);
  const auto found = done.find(source + "\n" + kernel);
  if (found != done.end()) return found->second;
  static Compiler compiler(test::real_configuration());
  CompileRequest request = test::request_for(source, kernel);
  request.want_cubin = false;
  const Cancellation never;
  const auto result = compiler.compile(request, never);
  EXPECT_TRUE(result.ok()) << result.error().message << "\n" << source;
  if (!result.ok()) return {};
  return done[source + "\n" + kernel] = *result;
}

Parameter pointer(std::string name, bool to_const, ScalarType type = ScalarType::f32) {
  return {std::move(name), type, true, to_const, 1};
}
Parameter scalar(std::string name, ScalarType type = ScalarType::i32) {
  return {std::move(name), type, false, false, 1};
}

Problem problem_of(const std::string& yaml, std::vector<Parameter> parameters) {
  const auto manifest = parse_manifest(yaml, "k.yaml");
  EXPECT_TRUE(manifest.ok()) << manifest.error().message;
  auto problem = make_problem(*manifest, {"k", std::move(parameters)}, "k.cu", "");
  EXPECT_TRUE(problem.ok()) << problem.error().message;
  return *problem;
}

Launch launch(Dim3 block, const char* x, const char* y = "1", const char* smem = "0") {
  return {"k",
          block,
          {*IntegerExpression::parse(x), *IntegerExpression::parse(y), 1},
          *IntegerExpression::parse(smem)};
}

constexpr std::uint64_t kSeed = 20240501;

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

constexpr const char* kMatmul = R"cuda(
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

Bench matmul() {
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
std::string tiled(
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

const std::string kSync = "__syncthreads();";

TEST(Verifier, TheOriginalIsSoundAndVerifiesAgainstItself) {
  Bench bench = matmul();
  const auto warnings = bench.check_original();
  ASSERT_TRUE(warnings.ok()) << warnings.error().message;
  EXPECT_TRUE(warnings->empty()) << warnings->front();
  const VerificationResult result = bench.verify(kMatmul);
  EXPECT_TRUE(result.correct()) << result.message;
  EXPECT_EQ(result.relative_error, 0.0);
  EXPECT_GE(result.runs, 15);  // three sizes, five distributions
  EXPECT_GT(result.thread_instructions, 1000000u);
}

TEST(Verifier, HonestVariantsOfTheMatrixProductPass) {
  Bench bench = matmul();
  VerificationResult result = bench.verify(tiled(kSync, kSync));
  EXPECT_TRUE(result.correct()) << result.message;

  // The sum in four interleaved parts: a different order of rounding.
  result = bench.verify(R"cuda(
__global__ void k(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C,
                  float alpha, int M, int N, int K) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || col >= N) return;
  float s[4] = {0, 0, 0, 0};
  int i = 0;
  for (; i + 3 < K; i += 4)
    for (int j = 0; j < 4; ++j) s[j] += A[row * K + i + j] * B[(i + j) * N + col];
  for (; i < K; ++i) s[0] += A[row * K + i] * B[i * N + col];
  C[row * N + col] = alpha * ((s[0] + s[1]) + (s[2] + s[3]));
}
)cuda",
                        launch({32, 4, 1}, "cdiv(N, bx)", "cdiv(M, by)"));
  EXPECT_TRUE(result.correct()) << result.message;
  EXPECT_GT(result.relative_error, 0.0);
  EXPECT_LT(result.relative_error, 2e-6);
}

TEST(Verifier, WrongMatrixProductsAreCaught) {
  Bench bench = matmul();
  const std::string head =
      "__global__ void k(const float* A, const float* B, float* C, float alpha, int M, int N, int "
      "K) {\n"
      "  int col = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  int row = blockIdx.y * blockDim.y + threadIdx.y;\n"
      "  float sum = 0.0f;\n";
  const std::string loop = "for (int i = 0; i < K; ++i) sum += A[row * K + i] * B[i * N + col];\n";

  // Does nothing.
  bench.expect(Verdict::wrong_result, head + "}", "was not written");
  // Half of the output.
  bench.expect(Verdict::wrong_result,
               head + "if (row < M && col < N && row < (M + 1) / 2) {" + loop +
                   "C[row * N + col] = alpha * sum; } }",
               "was not written");
  // No guard: columns beyond N are written into the next row; rows beyond M are out of bounds.
  bench.expect(Verdict::out_of_bounds, head + loop + "C[row * N + col] = alpha * sum; }", "'");
  // Off by one.
  bench.expect(Verdict::out_of_bounds,
               head + "if (row <= M && col < N) {" + loop + "C[row * N + col] = alpha * sum; } }",
               "'");
  // The last term is missing.
  bench.expect(
      Verdict::wrong_result,
      head +
          "if (row < M && col < N) { for (int i = 0; i < K - 1; ++i) sum += A[row * K + i] * "
          "B[i * N + col]; C[row * N + col] = alpha * sum; } }",
      "expected");
  // Right for multiples of 16 only.
  bench.expect(
      Verdict::wrong_result,
      head +
          "if (row < M && col < N) { for (int i = 0; i < (K & ~15); ++i) sum += A[row * K + "
          "i] * B[i * N + col]; if (K < 16) sum = A[row * K] * B[col];"
          "C[row * N + col] = alpha * sum; } }",
      "K: 45");
  // NaN.
  bench.expect(Verdict::wrong_result,
               head + "if (row < M && col < N) {" + loop +
                   "C[row * N + col] = row == 7 ? NAN : alpha * sum; } }",
               "nan");
  // A constant.
  bench.expect(Verdict::wrong_result, head + "if (row < M && col < N) C[row * N + col] = 0.0f; }",
               "is 0, expected");
  // The result rounded to half precision, and the inputs.
  bench.expect(Verdict::suspicious,
               "#include <cuda_fp16.h>\n" + head + "if (row < M && col < N) {" + loop +
                   "C[row * N + col] = __half2float(__float2half(alpha * sum)); } }",
               "f16");
  bench.expect(Verdict::suspicious,
               "#include <cuda_fp16.h>\n" + head +
                   "if (row < M && col < N) {"
                   "for (int i = 0; i < K; ++i) sum += __half2float(__float2half(A[row * K + i])) "
                   "* B[i * N + col];"
                   "C[row * N + col] = alpha * sum; } }",
               "f16");
  // Inputs overwritten so that a later check would agree.
  bench.expect(Verdict::suspicious,
               head + "if (row < M && col < N) {" + loop +
                   "C[row * N + col] = alpha * sum; ((float*)A)[row * K] = 0.0f; } }",
               "'A'");
  // A load beyond the end that does not change the result.
  bench.expect(Verdict::out_of_bounds,
               head + "if (row < M && col < N) {" + loop +
                   "C[row * N + col] = alpha * sum + 0.0f * __ldg(A + (size_t)M * K + 1000); } }",
               "'");
}

TEST(Verifier, SharedMemoryMistakesAreCaught) {
  Bench bench = matmul();
  // No barrier between filling and using a tile.
  bench.expect(Verdict::data_race, tiled("", kSync), "(shared)");
  // No barrier between using a tile and filling the next.
  bench.expect(Verdict::data_race, tiled(kSync, ""), "(shared)");
  // A barrier that only some threads reach.
  bench.expect(Verdict::barrier_divergence, tiled("if (col < N) { " + kSync + " } ", kSync),
               "barrier");
  // Loads past the last row.
  bench.expect(
      Verdict::out_of_bounds,
      tiled(kSync, kSync, "if (row < M && col < N) C[row * N + col] = alpha * sum;", "t + tx < K"),
      "'A'");
}

// Sums of 256 numbers a block by a tree in shared memory.
std::string tree(const std::string& declaration, const std::string& fill, const std::string& step,
                 const std::string& barrier) {
  return "__global__ void k(const float* x, float* y, int N) {\n  __shared__ float s[" +
         declaration + "];\n  int t = threadIdx.x;\n  " + fill +
         "\n  __syncthreads();\n  for (int stride = 128; stride > 0; stride /= 2) {\n    if (t < "
         "stride) " +
         step + "\n    " + barrier + "\n  }\n  if (t == 0) y[blockIdx.x] = s[0];\n}\n";
}

Bench tree_bench(const std::string& original) {
  return Bench(R"yaml(
sizes: {N: 65536}
args: {x: {shape: [N]}, y: {dir: out, shape: ["cdiv(N, 256)"]}}
launch: {block: 256, grid: "cdiv(N, 256)"}
tests: [{N: 512}, {N: 4096}]
)yaml",
               {pointer("x", true), pointer("y", false), scalar("N")}, original);
}

const std::string kFill = "s[t] = x[blockIdx.x * 256 + t];";
const std::string kStep = "s[t] += s[t + stride];";

TEST(Verifier, RacesAndUninitialisedMemoryAreNamed) {
  Bench bench = tree_bench(tree("256", kFill, kStep, "__syncthreads();"));
  bench.expect(Verdict::correct, tree("256", kFill, kStep, "__syncthreads();"), "");
  // Lockstep hides that no __syncwarp() stands between the last steps; blocks in reverse too.
  bench.expect(Verdict::data_race, tree("256", kFill, kStep, "if (stride > 32) __syncthreads();"),
               "no __syncwarp()");
  bench.expect(Verdict::correct,
               tree("256", kFill, kStep, "if (stride > 32) __syncthreads(); else __syncwarp();"),
               "");
  // A maximum does not notice NaN; what it reads was never written all the same.
  bench.expect(
      Verdict::suspicious,
      tree("257", kFill, "{ " + kStep + " if (stride == 1) s[0] += fmaxf(s[256], -3.0f) + 3.0f; }",
           "__syncthreads();"),
      "no thread has written");
  // Reading it without using it is no mistake.
  bench.expect(
      Verdict::correct,
      tree("512", kFill, "{ float other = s[t + 256]; " + kStep + " if (t > 300) y[0] = other; }",
           "__syncthreads();"),
      "");
  // Threads that have returned need not reach barriers.
  bench.expect(Verdict::correct,
               tree("256", kFill, kStep, "if (t >= 128) return; __syncthreads();"), "");
}

TEST(Verifier, AnOriginalThatRacesIsNoReference) {
  Bench bench = tree_bench(tree("256", kFill, kStep, "if (stride > 32) __syncthreads();"));
  const Result<std::vector<std::string>> warnings = bench.check_original();
  ASSERT_FALSE(warnings.ok());
  EXPECT_NE(warnings.error().message.find("data race"), std::string::npos)
      << warnings.error().message;
  EXPECT_NE(warnings.error().message.find("line"), std::string::npos) << warnings.error().message;
}

TEST(Verifier, EndlessLoopsTrapsAndImpossibleLaunchesAreVerdicts) {
  Bench bench = matmul();
  const std::string head =
      "__global__ void k(const float* A, const float* B, float* C, float alpha, int M, int N, int "
      "K) {\n";
  bench.expect(Verdict::timeout,
               head + "volatile float* p = C; while (p[0] != 1.2345678f) p[0] = 2.0f; }", "");
  bench.expect(Verdict::suspicious, head + "if (M > 0) __trap(); C[0] = 1; }", "trap");
  bench.expect(Verdict::crash, head + "assert(M < 0); C[0] = 1; }", "");
  bench.expect(Verdict::launch_error, head + "C[0] = 1; }", "grid.x",
               launch({16, 16, 1}, "N - 1", "cdiv(M, by)"));
  bench.expect(Verdict::launch_error, head + "C[0] = 1; }", "'Q'",
               launch({16, 16, 1}, "cdiv(Q, bx)"));
  bench.expect(
      Verdict::launch_error,
      "__global__ void k(const float* A, const float* B, float* C, float alpha, int M, int N) "
      "{ C[0] = 1; }",
      "parameters");
  bench.expect(
      Verdict::launch_error,
      "__global__ void k(const float* A, const float* B, float* C, double alpha, int M, int N, "
      "int K) { C[0] = 1; }",
      "'alpha'");
  bench.expect(Verdict::launch_error,
               head + "extern __shared__ float s[]; s[threadIdx.x] = 1; C[0] = s[0]; }", "",
               launch({16, 16, 1}, "1", "1", "1048576"));
  bench.expect(Verdict::misaligned_access,
               head + "if (threadIdx.x == 0) *(float2*)(C + 1) = make_float2(1, 2); }", "");
}

TEST(Verifier, AlignmentBeyondThePromiseIsCaught) {
  // 16 bytes are promised; this needs 32, which the first run's buffers happen to have.
  const std::string yaml = R"yaml(
sizes: {N: 4096}
args: {x: {shape: [N]}, y: {dir: out, shape: [N]}}
launch: {block: 128, grid: "cdiv(N, bx)"}
tests: [{N: 256}]
assume: {align: 4}
)yaml";
  Bench bench(
      yaml, {pointer("x", true), pointer("y", false), scalar("N")},
      "__global__ void k(const float* x, float* y, int N) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < N) y[i] = 2 * x[i];\n}\n");
  bench.expect(Verdict::misaligned_access,
               "__global__ void k(const float* x, float* y, int N) {\n"
               "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
               "  if (4 * i < N) { float4 v = ((const float4*)x)[i];\n"
               "    ((float4*)y)[i] = make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w); }\n}\n",
               "");
}

TEST(Verifier, MissingBarriersShowWhateverTheOrderOfWarps) {
  const std::string yaml = R"yaml(
sizes: {N: 4096}
args: {x: {shape: [N]}, y: {dir: out, shape: [N]}}
launch: {block: 256, grid: "cdiv(N, bx)"}
tests: [{N: 512}, {N: 200}]
)yaml";
  const auto shift = [](const std::string& barrier, const std::string& from) {
    return "__global__ void k(const float* x, float* y, int N) {\n  __shared__ float s[256];\n"
           "  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;\n"
           "  s[t] = i < N ? x[i] : 0.0f;\n  " +
           barrier + "\n  if (i < N) y[i] = s[" + from + "];\n}\n";
  };
  for (const char* from :
       {"(t + 224) & 255", "(t + 32) & 255", "t < 32 ? t : t - 32", "t < 224 ? t + 32 : t"}) {
    Bench bench(yaml, {pointer("x", true), pointer("y", false), scalar("N")}, shift(kSync, from));
    const auto warnings = bench.check_original();
    ASSERT_TRUE(warnings.ok()) << warnings.error().message;
    EXPECT_TRUE(warnings->empty()) << warnings->front();
    EXPECT_TRUE(bench.verify(shift(kSync + " " + kSync, from)).correct());
    const VerificationResult result = bench.verify(shift("", from));
    EXPECT_TRUE(result.verdict == Verdict::wrong_result || result.verdict == Verdict::data_race)
        << from << ": " << name(result.verdict) << " " << result.message;
  }
}

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
}  // namespace regraph
