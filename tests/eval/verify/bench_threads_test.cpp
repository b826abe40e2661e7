// What the check at the bench sizes says does not depend on the threads that share its work.
#include "eval/compile/compiled_plan.h"
#include "eval/verify/verifier_test_support.h"

#include <memory>

namespace regraph::bench_threads_test {
namespace {

using Effort = EvaluationBudget::Effort;

std::string text_of(const VerificationResult& result) {
  return std::string(name(result.verdict)) + ": " + result.message + "\n" +
         std::to_string(result.runs) + " runs, " + std::to_string(result.thread_instructions) +
         " instructions, error " + std::to_string(result.relative_error);
}

CompiledPlan compiled_plan(const std::string& source, const LaunchPlan& plan) {
  CompiledPlan all;
  for (const Launch& one : plan.launches) {
    all.launches.push_back(
        std::make_shared<const CompiledKernel>(test::compiled(source, one.kernel)));
  }
  return all;
}

// Candidates for one problem, judged with one, two and five threads, each by a verifier that starts
// anew.
class Judged {
 public:
  Judged(Problem problem, std::string original)
      : problem_(std::move(problem)), original_(std::move(original)) {}

  void expect(Verdict verdict, const std::string& source, const std::string& word = "",
              Effort effort = Effort::screening) {
    const std::string alone = text_of(judge(source, 1, effort));
    EXPECT_EQ(alone.rfind(name(verdict), 0), 0U) << alone << "\n" << source;
    EXPECT_NE(alone.find(word), std::string::npos) << alone;
    for (const int most : {2, 5}) {
      EXPECT_EQ(text_of(judge(source, most, effort)), alone) << most << " threads\n" << source;
    }
  }

 private:
  VerificationResult judge(const std::string& source, int most, Effort effort) {
    const Cancellation never;
    Verifier verifier(problem_, compiled_plan(original_, problem_.launch));
    verifier.threads().limit(most);
    const ThreadBudget::Share calling = verifier.threads().enter();
    const auto prepared = verifier.prepare(compiled_plan(source, problem_.launch), problem_.launch);
    EXPECT_TRUE(prepared.ok()) << prepared.error().message;
    const VerificationResult tested = verifier.verify(**prepared, test::kSeed, never);
    EXPECT_TRUE(tested.correct()) << tested.message;
    return verifier.verify_bench(**prepared, tested, test::kSeed, effort, never);
  }

  Problem problem_;
  std::string original_;
};

std::string vector_kernel(const std::string& body) {
  return "__global__ void k(const float* in, float* out, int n) {\n"
         "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  " +
         body + "\n}\n";
}
Judged scaled_vector(const std::string& direction = "out") {
  return Judged(
      test::problem_of("sizes: {n: 67108864}\nargs: {in: {shape: [n]}, out: {dir: " + direction +
                           R"yaml(, shape: [n]}}
launch: {block: 256, grid: "cdiv(n, bx)"}
tests: [{n: 1001}, {n: 515}, {n: 1}]
assume: {fixed: [n]}
)yaml",
                       {test::pointer("in", true), test::pointer("out", false), test::scalar("n")}),
      vector_kernel(direction == "out" ? "if (i < n) out[i] = 2.0f * in[i];"
                                       : "if (i < n) out[i] += 2.0f * in[i];"));
}

TEST(BenchThreads, HonestVectors) {
  Judged judged = scaled_vector();
  judged.expect(Verdict::correct, vector_kernel("if (i < n) out[i] = in[i] + in[i];"));
  judged.expect(Verdict::correct,
                vector_kernel("if (i < n) out[n - 1 - i] = 2.0f * in[n - 1 - i];"));
  judged.expect(Verdict::correct, vector_kernel("if (i < n) out[i] = in[i] + in[i];"), "",
                Effort::confirmation);
}

TEST(BenchThreads, VectorsInPlace) {
  Judged judged = scaled_vector("inout");
  judged.expect(Verdict::correct, vector_kernel("if (i < n) out[i] = out[i] + in[i] * 2.0f;"));
  judged.expect(Verdict::wrong_result,
                vector_kernel("if (i < n) out[i] += 2.0f * in[i] + (i > 60000000 ? 1.0f : 0.0f);"),
                "bench size");
  // Blocks that see what others wrote; no test size has as many.
  judged.expect(
      Verdict::wrong_result,
      vector_kernel("if (i < n) out[i] += 2.0f * in[i] + (i > 70000 ? out[i - 256] : 0);"),
      "bench size");
}

TEST(BenchThreads, FaultsOfOneBlock) {
  Judged judged = scaled_vector();
  const auto with = [](const std::string& fault) {
    return vector_kernel(fault + " if (i < n) out[i] = 2.0f * in[i];");
  };
  for (const char* where : {"blockIdx.x == gridDim.x - 1 && n > 4096", "blockIdx.x == 87382",
                            "blockIdx.x == 0 && n > 4096", "blockIdx.x > 100", "n > 4096"}) {
    SCOPED_TRACE(where);
    judged.expect(Verdict::out_of_bounds,
                  with("if (" + std::string(where) + ") out[n + i] = 1.0f;"), "bench size");
    judged.expect(
        Verdict::misaligned_access,
        with("if (" + std::string(where) + ") *(float*)((char*)(out + i % n) + 2) = 1.0f;"),
        "bench size");
  }
}

TEST(BenchThreads, PathsThatAddSizes) {
  Judged judged = scaled_vector();
  const std::string wide = vector_kernel(
      "if (n % 4 == 0) { if (4 * i < n) { float4 v = ((const float4*)in)[i]; v.x *= 2.0f; v.y *= "
      "2.0f; v.z *= 2.0f; v.w *= 2.0f; ((float4*)out)[i] = v; } return; }\n"
      "if (i < n) out[i] = 2.0f * in[i];");
  judged.expect(Verdict::correct, wide);
  judged.expect(Verdict::correct, vector_kernel("float f = n % 4096 == 0 ? 1.0f : 2.0f;"
                                                "if (n % 64 == 0) f *= 2.0f; else f = 2.0f;"
                                                "if (n % 4096 != 0) f = 2.0f;"
                                                "if (i < n) out[i] = f * in[i];"));
  judged.expect(
      Verdict::wrong_result,
      vector_kernel("if (i < n) out[i] = (n % 256 == 0 && n < 9000 ? 3.0f : 2.0f) * in[i];"),
      "was added");
  judged.expect(Verdict::correct,
                vector_kernel("if (n == 67108864 && i == 5) { out[i] = in[i] + in[i]; return; }"
                              "if (i < n) out[i] = 2.0f * in[i];"));
}

TEST(BenchThreads, Products) {
  Judged judged(test::problem_of(R"yaml(
sizes: {M: 4096, N: 4096, K: 320}
args: {A: {shape: [M, K]}, B: {shape: [K, N]}, C: {dir: out, shape: [M, N]}, alpha: 1.5}
launch: {block: [16, 16], grid: ["cdiv(N, bx)", "cdiv(M, by)"]}
tests: [{M: 70, N: 50, K: 45}, {M: 64, N: 64, K: 64}, {M: 1, N: 1, K: 1}]
bench: [{M: 4096, N: 4096, K: 320}, {M: 2048, N: 2048, K: 256}, {M: 1000, N: 3000, K: 300}]
assume: {fixed: [M, N, K]}
)yaml",
                                 {test::pointer("A", true), test::pointer("B", true),
                                  test::pointer("C", false), test::scalar("alpha", ScalarType::f32),
                                  test::scalar("M"), test::scalar("N"), test::scalar("K")}),
                test::kMatmul);
  judged.expect(Verdict::correct, test::tiled("__syncthreads();", "__syncthreads();"));
  // Wrong at the second of the sizes, and at the third.
  for (const char* where : {"M == 2048", "K == 300", "M > 999"}) {
    SCOPED_TRACE(where);
    judged.expect(Verdict::wrong_result,
                  test::tiled("__syncthreads();", "__syncthreads();",
                              "if (row < M && col < N) C[row * N + col] = (" + std::string(where) +
                                  " && blockIdx.y > 50 ? 1.25f : 1.0f) * alpha * sum;"));
  }
}

TEST(BenchThreads, PlansOfSeveralLaunches) {
  const auto manifest = parse_manifest(R"yaml(
sizes: {n: 262144}
args: {x: {shape: [n]}, y: {dir: out, shape: [n]}}
scratch: {half: {type: float, shape: [n]}}
launches:
  - {kernel: prepare, block: 128, grid: ["cdiv(n, 128)"]}
  - {kernel: use, block: 128, grid: ["cdiv(n, 128)"], args: [half, y, n]}
tests: [{n: 1000}, {n: 300}, {n: 1}]
)yaml",
                                       "k.yaml");
  ASSERT_TRUE(manifest.ok()) << manifest.error().message;
  const auto problem = make_problem_of_launches(
      *manifest,
      {{"prepare", {test::pointer("x", true), test::pointer("half", false), test::scalar("n")}},
       {"use", {test::pointer("half", true), test::pointer("y", false), test::scalar("n")}}},
      "k.cu", "");
  ASSERT_TRUE(problem.ok()) << problem.error().message;
  const auto source = [](const std::string& prepare, const std::string& use) {
    const std::string index = "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  ";
    return "__device__ int seen;\n"
           "__global__ void prepare(const float* x, float* half, int n) {\n" +
           index + prepare + "\n}\n__global__ void use(const float* half, float* y, int n) {\n" +
           index + use + "\n}\n";
  };
  // Enough work in all that blocks of the last launch are compared, after the first as a whole.
  const std::string sum =
      "float s = 0; for (int j = 0; j < 64; ++j) s += half[(i + j * 129) % n]; if (i < n) y[i] = "
      "s;";
  Judged judged(*problem, source("if (i < n) half[i] = 0.5f * x[i];", sum));
  judged.expect(Verdict::correct, source("if (i < n) half[i] = x[i] * 0.5f;",
                                         "float s = 0; for (int j = 0; j < 64; ++j)"
                                         " s += half[(i + j * 129) % n]; if (i < n) y[i] = s;"));
  judged.expect(Verdict::wrong_result,
                source("if (i < n) half[i] = i == 200000 ? 9.0f : x[i] * 0.5f;", sum),
                "bench size");
  judged.expect(Verdict::wrong_result,
                source("if (i < n) half[i] = x[i] * 0.5f; if (i == 200000) seen = 1;",
                       sum + " if (seen == 1 && i < n) y[i] += 1.0f;"),
                "bench size");
  judged.expect(
      Verdict::out_of_bounds,
      source("if (i < n) half[i] = x[i] * 0.5f;", sum + " if (i >= 150000) y[i + n] = 1.0f;"),
      "bench size");
}

}  // namespace
}  // namespace regraph::bench_threads_test
