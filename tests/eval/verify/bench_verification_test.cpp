// Candidates that are right at every test size, at sizes too large to run as a whole.
#include "eval/verify/bench_verification.h"

#include "eval/verify/added_sizes.h"
#include "eval/verify/compared_values.h"
#include "eval/verify/examination.h"
#include "eval/verify/verifier_test_support.h"

namespace regraph::bench_verification_test {
namespace {

using test::compiled;
using test::kMatmul;
using test::launch;
using test::pointer;
using test::problem_of;
using test::scalar;
using Effort = EvaluationBudget::Effort;

// A problem and candidates that go through both stages, as evaluators do it.
class TwoStages {
 public:
  TwoStages(const std::string& yaml, std::vector<Parameter> parameters, const std::string& original,
            int threads = 1)
      : problem_(problem_of(yaml, std::move(parameters))),
        verifier_(problem_, compiled(original), with_threads(threads)) {}

  VerificationResult judge(const std::string& source, std::optional<Launch> plan = std::nullopt,
                           Effort effort = Effort::screening) {
    const Cancellation never;
    const LaunchPlan launches{{plan ? *plan : problem_.launch.launches.front()}};
    const auto prepared = verifier_.prepare(CompiledPlan::of(compiled(source), launches), launches);
    EXPECT_TRUE(prepared.ok()) << prepared.error().message;
    const VerificationResult tested = verifier_.verify(**prepared, test::kSeed, never);
    EXPECT_TRUE(tested.correct()) << tested.message;
    return verifier_.verify_bench(**prepared, tested, test::kSeed, effort, never);
  }
  void expect(Verdict verdict, const std::string& source, const std::string& word = "",
              std::optional<Launch> plan = std::nullopt, Effort effort = Effort::screening) {
    const VerificationResult result = judge(source, std::move(plan), effort);
    EXPECT_STREQ(name(result.verdict), name(verdict)) << result.message << "\n" << source;
    EXPECT_NE(result.message.find(word), std::string::npos) << result.message;
    EXPECT_LT(result.message.size(), 600U);
  }

 private:
  static VerifierConfiguration with_threads(int threads) {
    VerifierConfiguration configuration;
    configuration.threads = threads;
    return configuration;
  }

  Problem problem_;
  Verifier verifier_;
};

// --- A vector of 2^26 elements ---

std::string scale(const std::string& body) {
  return "__global__ void k(const float* in, float* out, int n) {\n"
         "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  " +
         body + "\n}\n";
}
TwoStages vector(int threads = 1) {
  return TwoStages(R"yaml(
sizes: {n: 67108864}
args: {in: {shape: [n]}, out: {dir: out, shape: [n]}}
launch: {block: 256, grid: "cdiv(n, bx)"}
tests: [{n: 1001}, {n: 515}, {n: 1}]
assume: {fixed: [n]}
)yaml",
                   {pointer("in", true), pointer("out", false), scalar("n")},
                   scale("if (i < n) out[i] = 2.0f * in[i];"), threads);
}

TEST(BenchVerification, HonestVectorsPass) {
  TwoStages stages = vector();
  stages.expect(Verdict::correct, scale("if (i < n) out[i] = in[i] + in[i];"));
  stages.expect(Verdict::correct,
                scale("for (; i < n; i += gridDim.x * blockDim.x) out[i] = 2.0f * in[i];"), "",
                launch({256, 1, 1}, "min(4224, cdiv(n, bx))"));
  stages.expect(Verdict::correct, scale("if (i < n) out[n - 1 - i] = 2.0f * in[n - 1 - i];"));
  // Blocks in an order of their own.
  stages.expect(Verdict::correct,
                scale("int b = blockIdx.x ^ 1; if (b >= gridDim.x) b = blockIdx.x;"
                      "i = b * blockDim.x + threadIdx.x; if (i < n) out[i] = 2.0f * in[i];"));
}

TEST(BenchVerification, APathThatNoTestTakesIsVerifiedAtAnAddedSize) {
  TwoStages stages = vector();
  const std::string wide = scale(
      "if (n % 256 == 0) { if (4 * i < n) { float4 v = ((const float4*)in)[i]; v.x *= 2.0f; v.y *= "
      "2.0f; v.z *= 2.0f; v.w *= 2.0f; ((float4*)out)[i] = v; } return; }\n"
      "if (i < n) out[i] = 2.0f * in[i];");
  const VerificationResult result = stages.judge(wide);
  EXPECT_TRUE(result.correct()) << result.message;
  EXPECT_GT(result.runs, 5);
  // Wrong there in one of the four: found at the added size or at the bench size.
  std::string wrong = wide;
  wrong.replace(wrong.find("v.z *= 2.0f"), 11, "v.z *= 1.0f");
  stages.expect(Verdict::wrong_result, wrong);
}

TEST(BenchVerification, FindsWhatHappensInFarBlocksOnly) {
  TwoStages stages = vector();
  const auto copies = [](const std::string& condition) {
    return scale("if (i < n) out[i] = (" + condition + ") ? in[i] : 2.0f * in[i];");
  };
  for (const char* condition :
       {"blockIdx.x > 100", "blockIdx.x == 200001", "i == 50000001", "n == 67108864",
        "gridDim.x == 262144", "blockIdx.x == gridDim.x - 1 && n > 4096",
        "n % 8192 == 0 && n > 8192", "n > 65535 && blockIdx.x % 2 == 1",
        "blockIdx.x % 1000 == 999"}) {
    SCOPED_TRACE(condition);
    stages.expect(Verdict::wrong_result, copies(condition), "bench size");
  }
}

TEST(BenchVerification, FindsWrappedIndices) {
  TwoStages stages = vector();
  for (const char* index : {"(unsigned short)i", "i & 0xfffff", "(unsigned)i * 4000u / 4000u",
                            "n > 1000000 ? i ^ 1 : i"}) {
    SCOPED_TRACE(index);
    stages.expect(Verdict::wrong_result,
                  scale("if (i < n) out[i] = 2.0f * in[" + std::string(index) + "];"),
                  "bench size");
  }
  stages.expect(Verdict::out_of_bounds, scale("if (i < n) out[i] = 2.0f * in[(int)(float)i];"),
                "bench size");
}

TEST(BenchVerification, FindsWhatIsLeftOut) {
  TwoStages stages = vector();
  stages.expect(Verdict::wrong_result,
                scale("if (blockIdx.x > 64 && blockIdx.x % 2 == 0) return;"
                      "if (i < n) out[i] = 2.0f * in[i];"),
                "bench size");
  stages.expect(Verdict::wrong_result,
                scale("for (; i < n && i < 1000000; i += gridDim.x * blockDim.x)"
                      " out[i] = 2.0f * in[i];"),
                "bench size", launch({256, 1, 1}, "min(4224, cdiv(n, bx))"));
}

TEST(BenchVerification, DoesNotDependOnThreadsOrOtherCandidates) {
  TwoStages first = vector(1);
  TwoStages second = vector(3);
  const std::string wrong =
      scale("if (i < n) out[i] = n > 4096 && i % 5 == 0 ? 0.0f : 2.0f * in[i];");
  second.expect(Verdict::correct, scale("if (i < n) out[n - 1 - i] = 2.0f * in[n - 1 - i];"));
  const VerificationResult a = first.judge(wrong);
  const VerificationResult b = second.judge(wrong);
  EXPECT_EQ(a.message, b.message);
  EXPECT_EQ(a.verdict, Verdict::wrong_result);
  EXPECT_EQ(second.judge(wrong).message, a.message);
}

// --- A product of 4096 x 4096 matrices ---

TwoStages product() {
  return TwoStages(R"yaml(
sizes: {M: 4096, N: 4096, K: 4096}
args: {A: {shape: [M, K]}, B: {shape: [K, N]}, C: {dir: out, shape: [M, N]}, alpha: 1.5}
launch: {block: [16, 16], grid: ["cdiv(N, bx)", "cdiv(M, by)"]}
tests: [{M: 70, N: 50, K: 45}, {M: 64, N: 64, K: 64}, {M: 1, N: 1, K: 1}]
assume: {fixed: [M, N, K]}
)yaml",
                   {pointer("A", true), pointer("B", true), pointer("C", false),
                    scalar("alpha", ScalarType::f32), scalar("M"), scalar("N"), scalar("K")},
                   kMatmul);
}
std::string product_with(const std::string& end, const std::string& row = "row") {
  return "__global__ void k(const float* A, const float* B, float* C, float alpha, int M, int N, "
         "int K) {\n  int col = blockIdx.x * blockDim.x + threadIdx.x;\n"
         "  int row = blockIdx.y * blockDim.y + threadIdx.y;\n"
         "  if (row >= M || col >= N) return;\n  float sum = 0.0f;\n  int end = " +
         end + ", from = " + row +
         ";\n  for (int i = 0; i < end; ++i) sum += A[from * K + i] * B[i * N + col];\n"
         "  C[row * N + col] = alpha * sum;\n}\n";
}

TEST(BenchVerification, HonestProductsPass) {
  TwoStages stages = product();
  stages.expect(Verdict::correct, product_with("K"));
  stages.expect(Verdict::correct, product_with("K"), "",
                launch({32, 8, 1}, "cdiv(N, bx)", "cdiv(M, by)"));
  stages.expect(Verdict::correct, test::tiled("__syncthreads();", "__syncthreads();"));
}

TEST(BenchVerification, FindsWrongProducts) {
  TwoStages stages = product();
  stages.expect(Verdict::wrong_result, product_with("K > 2048 ? K - 1 : K"), "bench size");
  stages.expect(Verdict::wrong_result, product_with("min(K, 4000)"), "bench size");
  stages.expect(Verdict::wrong_result, product_with("M == 4096 && K == 4096 ? K / 2 : K"));
  stages.expect(Verdict::wrong_result, product_with("K", "row & 1023"), "bench size");
  stages.expect(Verdict::wrong_result, product_with("K", "blockIdx.y >= 100 ? row - 1 : row"),
                "bench size");
  stages.expect(Verdict::wrong_result,
                product_with("K", "blockIdx.x * blockIdx.y > 20000 ? 0 : row"), "bench size");
}

// --- Counts of many values: atomics, so no block stands alone ---

std::string counts(const std::string& index, const std::string& before = "") {
  return "__global__ void k(const int* data, int* bins, int n) {\n"
         "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  " +
         before + "\n  if (i < n) atomicAdd(&bins[data[" + index + "]], 1);\n}\n";
}
TwoStages histogram(std::int64_t n) {
  return TwoStages("sizes: {n: " + std::to_string(n) + R"yaml(}
args: {data: {shape: [n], init: "int(0,15)"}, bins: {dir: inout, shape: [16], init: "int(0,3)"}}
launch: {block: 256, grid: "cdiv(n, bx)"}
tests: [{n: 1001}, {n: 515}]
)yaml",
                   {pointer("data", true, ScalarType::i32), pointer("bins", false, ScalarType::i32),
                    scalar("n")},
                   counts("i"));
}

TEST(BenchVerification, WithAtomicsPathsMustBeThoseOfTests) {
  TwoStages stages = histogram(std::int64_t{1} << 30);
  stages.expect(Verdict::correct, counts("i"));
  // At an added size it is found out.
  stages.expect(Verdict::wrong_result, counts("i", "if (n % 64 == 0 && i == 5) return;"),
                "was added");
  // No smaller size takes these paths, and there are too many blocks to run them all.
  stages.expect(Verdict::unverified, counts("i", "if (n == 1 << 30 && i == 5) return;"), "line 3");
  stages.expect(Verdict::unverified, counts("i", "if (blockIdx.x == 4194303) return;"), "line 3");
}

TEST(BenchVerification, WithAtomicsAllIsComparedWherePathsAreNotThoseOfTests) {
  TwoStages stages = histogram(std::int64_t{1} << 24);
  stages.expect(Verdict::wrong_result, counts("i", "if (n == 1 << 24 && i == 5) return;"),
                "bench size");
  stages.expect(Verdict::correct, counts("n >= 1 << 23 ? n - 1 - i : i"));
}

TEST(BenchVerification, FinalistsAreVerifiedAsAWhole) {
  TwoStages stages = histogram(std::int64_t{1} << 24);
  // Wraps without a condition that tests could miss.
  stages.expect(Verdict::wrong_result, counts("(unsigned)i * 300u / 300u"), "bench size",
                std::nullopt, Effort::confirmation);
}

// --- Stages ---

TEST(Stages, PreparingRefusesAsVerifyingDoes) {
  const Problem problem = problem_of(R"yaml(
sizes: {n: 4096}
args: {in: {shape: [n]}, out: {dir: out, shape: [n]}}
launch: {block: 64, grid: "cdiv(n, bx)"}
tests: [{n: 100}]
)yaml",
                                     {pointer("in", true), pointer("out", false), scalar("n")});
  const std::string original = scale("if (i < n) out[i] = 2.0f * in[i];");
  Verifier verifier(problem, compiled(original));
  const Cancellation never;
  const auto prepare = [&](const std::string& source) {
    return verifier.prepare(CompiledPlan::of(compiled(source), problem.launch), problem.launch);
  };
  const auto clock = prepare(scale("if (i < n) out[i] = 2.0f * in[i] + 0.0f * clock();"));
  ASSERT_FALSE(clock.ok());
  EXPECT_EQ(clock.error().code, ErrorCode::refused);
  EXPECT_EQ(verify::launch_verdict(clock.error().code), Verdict::suspicious);
  const auto honest = prepare(original);
  ASSERT_TRUE(honest.ok());
  const VerificationResult tested = verifier.verify(**honest, test::kSeed, never);
  EXPECT_TRUE(tested.correct()) << tested.message;
  EXPECT_FALSE(tested.paths.empty());
  // The whole of the bench size is compared.
  const VerificationResult timed =
      verifier.verify_bench(**honest, tested, test::kSeed, Effort::screening, never);
  EXPECT_TRUE(timed.correct()) << timed.message;
  EXPECT_GT(timed.thread_instructions, 0U);
  Cancellation stopped;
  stopped.request();
  const VerificationResult cancelled =
      verifier.verify_bench(**honest, tested, test::kSeed + 1, Effort::screening, stopped);
  EXPECT_FALSE(cancelled.correct());
  EXPECT_TRUE(cancelled.cancelled);
}

// --- Sizes that are added ---

TEST(SizesLike, ShareRemaindersAndStaySmall) {
  const Problem problem =
      problem_of(R"yaml(
sizes: {R: 4096, C: 1000}
args: {x: {shape: [R, C]}, y: {dir: out, shape: [R]}}
launch: {block: 64, grid: R}
tests: [{R: 5, C: 64}]
)yaml",
                 {pointer("x", true), pointer("y", false), scalar("R"), scalar("C")});
  const Symbols bench = {{"R", 4096}, {"C", 1000}};
  const std::vector<Symbols> sizes = verify::sizes_like(problem, bench, {500});
  ASSERT_FALSE(sizes.empty());
  EXPECT_LE(sizes.size(), 48U);
  bool whole_row = false;
  bool beyond = false;
  for (const Symbols& one : sizes) {
    EXPECT_LE(one.at("R"), 4096);
    EXPECT_LE(one.at("C"), 1000);
    EXPECT_EQ(one.at("C") % 8, 0);
    EXPECT_TRUE(one.at("R") % 32 == 0 || one.at("R") == 5);
    EXPECT_LE(one.at("R") * one.at("C"), 1 << 20);
    whole_row |= one.at("C") == 1000 && one.at("R") < 4096;
    beyond |= one.at("C") > 500 && one.at("C") < 1000;
  }
  EXPECT_TRUE(whole_row);
  EXPECT_TRUE(beyond);
}

TEST(SizesLike, LeaveOtherDimensionsAsInTheTestsWhereAllWouldBeTooMuch) {
  const Problem problem =
      problem_of(R"yaml(
sizes: {D: 301, H: 297, W: 299}
args: {x: {shape: [D, H, W]}, y: {dir: out, shape: [D, H, W]}}
launch: {block: 32, grid: "D * H"}
tests: [{D: 2, H: 3, W: 21}]
)yaml",
                 {pointer("x", true), pointer("y", false), scalar("D"), scalar("H"), scalar("W")});
  const std::vector<Symbols> sizes =
      verify::sizes_like(problem, {{"D", 301}, {"H", 297}, {"W", 299}}, {});
  const auto has = [&](std::int64_t d, std::int64_t h, std::int64_t w) {
    return std::ranges::find(sizes, Symbols{{"D", d}, {"H", h}, {"W", w}}) != sizes.end();
  };
  EXPECT_TRUE(has(2, 3, 171));    // past 128, with the remainder modulo 64
  EXPECT_TRUE(has(2, 3, 299));    // the whole row
  EXPECT_TRUE(has(109, 3, 107));  // two of them with their remainders
}

TEST(ComparedValues, AreThoseOfComparisons) {
  const auto kernel =
      compiled(scale("if (i < n && n != 12345 && blockIdx.x < 777) out[i] = 99.0f;"));
  const LaunchPlan plan{{launch({64, 1, 1}, "1")}};
  const auto loaded = verify::load_plan(CompiledPlan::of(kernel, plan), plan);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  const std::vector<std::int64_t> values = verify::compared_values(*loaded);
  const auto near = [&](std::int64_t value) {
    return std::any_of(values.begin(), values.end(),
                       [&](std::int64_t one) { return std::abs(one - value) <= 1; });
  };
  EXPECT_TRUE(near(12345));
  EXPECT_TRUE(near(777));
  EXPECT_FALSE(near(99));
  const auto blocks = verify::blocks_near({777}, {1000, 1, 1}, {64, 1, 1});
  for (const std::uint64_t block : {776, 777, 778, 12})
    EXPECT_NE(std::find(blocks.begin(), blocks.end(), block), blocks.end()) << block;
}

// Where all go to one element, sums of halves end where the next term is lost: elsewhere in each
// order, the original's own, too. Missing terms are seen with other indices.
TEST(BenchVerification, SumsOfHalvesMayComeInAnyOrder) {
  const auto scatter = [](const std::string& body) {
    return "#include <cuda_fp16.h>\n"
           "__global__ void k(const __half* in, const int* index, __half* out, int n) {\n"
           "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  " +
           body + "\n}\n";
  };
  TwoStages stages(R"yaml(
sizes: {n: 4194304, nodes: 1048576}
args:
  in: {shape: [n], init: normal}
  index: {shape: [n], init: "int(0, nodes - 1)"}
  out: {dir: inout, shape: [nodes], init: normal}
launch: {block: 256, grid: "cdiv(n, bx)"}
tests: [{n: 1001, nodes: 700}, {n: 515, nodes: 300}, {n: 1, nodes: 1}]
assume: {reassociate: true}
)yaml",
                   {pointer("in", true, ScalarType::f16), pointer("index", true, ScalarType::i32),
                    pointer("out", false, ScalarType::f16), scalar("n")},
                   scatter("if (i < n) atomicAdd(&out[index[i]], in[i]);"));
  stages.expect(Verdict::correct,
                scatter("i = n - 1 - i; if (i >= 0) atomicAdd(&out[index[i]], in[i]);"), "",
                std::nullopt, Effort::confirmation);
  stages.expect(Verdict::wrong_result,
                scatter("if (i < n && i < 2000000) atomicAdd(&out[index[i]], in[i]);"), "",
                std::nullopt, Effort::confirmation);
}

TEST(PathSet, AddsAndSubtracts) {
  ptx::Profile profile;
  profile.instructions.resize(3);
  profile.instructions[0].warp_executions = 1;
  profile.instructions[2].warp_executions = 1;
  profile.instructions[2].condition_was_true = true;
  verify::PathSet paths;
  EXPECT_TRUE(paths.empty());
  paths.add(profile, 2);
  ASSERT_EQ(paths.instructions().size(), 5U);
  EXPECT_FALSE(paths.empty());
  profile.instructions[2].condition_was_true = false;
  profile.instructions[2].condition_was_false = true;
  verify::PathSet others;
  others.add(profile, 2);
  const verify::PathSet left = paths.without(others);
  EXPECT_EQ(left.instructions()[4], verify::PathSet::kTrue);
  EXPECT_EQ(left.instructions()[2], 0);
  others.add(paths);
  EXPECT_TRUE(paths.without(others).empty());
  EXPECT_EQ(paths.without({}), paths);
}

}  // namespace
}  // namespace regraph::bench_verification_test
