#include "eval/verify/examination.h"

#include "eval/verify/verifier_test_support.h"

namespace regraph::examination_test {
namespace {

using test::Bench;
using test::launch;
using test::pointer;
using test::scalar;

// What candidates do wrong in shared memory, at barriers, with alignment and at launch, and the
// verdict on each.

using test::kMatmul;
using test::kSync;
using test::matmul;
using test::tiled;

TEST(Examination, TheOriginalIsSoundAndVerifiesAgainstItself) {
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

TEST(Examination, HonestVariantsOfTheMatrixProductPass) {
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

TEST(Examination, WrongMatrixProductsAreCaught) {
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

TEST(Examination, SharedMemoryMistakesAreCaught) {
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

TEST(Examination, RacesAndUninitialisedMemoryAreNamed) {
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

TEST(Examination, AnOriginalThatRacesIsNoReference) {
  Bench bench = tree_bench(tree("256", kFill, kStep, "if (stride > 32) __syncthreads();"));
  const Result<std::vector<std::string>> warnings = bench.check_original();
  ASSERT_FALSE(warnings.ok());
  EXPECT_NE(warnings.error().message.find("data race"), std::string::npos)
      << warnings.error().message;
  EXPECT_NE(warnings.error().message.find("line"), std::string::npos) << warnings.error().message;
}

TEST(Examination, EndlessLoopsTrapsAndImpossibleLaunchesAreVerdicts) {
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

// At sizes that are added, rows of one element: nobody wrote the candidate for them.
TEST(Examination, ABlockForEachOfManyShortRowsIsNoEndlessLoop) {
  Bench rows(
      "sizes: {r: 16384, c: 512}\nargs: {x: {shape: [r, c]}, y: {dir: out, shape: [r]}}\n"
      "launch: {block: 128, grid: \"cdiv(r, bx)\"}\ntests: [{r: 65, c: 33}, {r: 1, c: 1}]\n",
      {pointer("x", true), pointer("y", false), scalar("r"), scalar("c")},
      "__global__ void k(const float* x, float* y, int r, int c) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i >= r) return;\n"
      "  float sum = 0.0f;\n"
      "  for (int j = 0; j < c; ++j) sum += x[i * c + j];\n"
      "  y[i] = sum;\n"
      "}");
  rows.expect(Verdict::correct,
              "__global__ void k(const float* x, float* y, int r, int c) {\n"
              "  __shared__ float s[1024];\n"
              "  int t = threadIdx.x;\n"
              "  float sum = 0.0f;\n"
              "  for (int j = t; j < c; j += 1024) sum += x[blockIdx.x * c + j];\n"
              "  s[t] = sum;\n"
              "  for (int d = 512; d > 0; d /= 2) {\n"
              "    __syncthreads();\n"
              "    if (t < d) s[t] += s[t + d];\n"
              "  }\n"
              "  if (t == 0) y[blockIdx.x] = s[0];\n"
              "}",
              "", launch({1024, 1, 1}, "r"));
}

TEST(Examination, AlignmentBeyondThePromiseIsCaught) {
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

TEST(Examination, MissingBarriersShowWhateverTheOrderOfWarps) {
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

}  // namespace
}  // namespace regraph::examination_test
