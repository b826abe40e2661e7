#include "eval/model/model_evaluator.h"

#include "eval/model/model_test_support.h"
#include "eval/model/predict_time.h"

#include <gtest/gtest.h>

#include <cmath>
#include <thread>

namespace regraph::model_evaluator_test {
namespace {

const Cancellation kNever;

// A prediction of one kernel launched as `plan` says, or its rejection, as an evaluator has it.
Evaluation predicted_as(const DeviceSpec& device, const Problem& problem,
                        const CompiledKernel& kernel, const LaunchPlan& plan,
                        WorkCounting counting = WorkCounting::machine_code) {
  auto prediction =
      predict_time(device, problem, CompiledPlan::of(kernel, plan), plan, kNever, counting);
  Evaluation result;
  if (!prediction) {
    reject(result, std::move(prediction).error());
    return result;
  }
  result.verdict = Verdict::correct;
  result.time = prediction->time;
  result.facts = std::move(prediction->facts);
  result.bottleneck = std::move(prediction->bottleneck);
  result.roofline_seconds = prediction->roofline_seconds;
  return result;
}

Evaluation predicted(const Problem& problem, const std::string& source,
                     const char* device = "h200") {
  return predicted_as(test::device(device), problem, test::compiled(source), problem.launch);
}

double seconds(const Problem& problem, const std::string& source, const char* device = "h200") {
  const Evaluation result = predicted(problem, source, device);
  EXPECT_TRUE(result.correct()) << result.message;
  return result.time.median_seconds;
}

// A compiler, a verifier of the original and the evaluator over both.
class Judge {
 public:
  Judge(Problem problem, const std::string& original)
      : problem_(std::move(problem)),
        verifier_(problem_, test::compiled(original)),
        evaluator_(problem_, test::shared_compiler(), verifier_, test::device("h200")) {}

  Evaluation operator()(const std::string& source, const LaunchPlan& plan,
                        const EvaluationBudget& budget = {.seed = 1}) {
    Candidate candidate;
    candidate.source = source;
    candidate.plan = plan;
    return evaluator_.evaluate(candidate, budget, kNever);
  }
  Evaluation operator()(const std::string& source) { return (*this)(source, problem_.launch); }

 private:
  Problem problem_;
  Verifier verifier_;
  ModelEvaluator evaluator_;
};

// --- What is counted ---

TEST(WorkCounting, MachineCodeOfEveryDeviceIsUnderstood) {
  for (const DeviceSpec& device : known_devices()) {
    EXPECT_EQ(choose_counting(test::shared_compiler(), std::string(device.architecture)),
              WorkCounting::machine_code)
        << device.name;
  }
  // Nothing can be compiled for it.
  EXPECT_EQ(choose_counting(test::shared_compiler(), "sm_10"), WorkCounting::ptx);
}

TEST(WorkCounting, PtxCountsAreSaidToBeSuch) {
  const Problem problem = test::copy_problem();
  const auto with = [&](const CompiledKernel& kernel, WorkCounting counting) {
    return predicted_as(test::device("h200"), problem, kernel, problem.launch, counting);
  };
  const CompiledKernel kernel = test::compiled(test::kCopy);
  const Evaluation in_machine_code = with(kernel, WorkCounting::machine_code);
  const Evaluation in_ptx = with(kernel, WorkCounting::ptx);
  ASSERT_TRUE(in_machine_code.correct() && in_ptx.correct());
  EXPECT_FALSE(in_machine_code.facts.contains("caveat_ptx_counts"));
  EXPECT_TRUE(in_ptx.facts.contains("caveat_ptx_counts"));
  // A kernel without a line table, or without machine code at all, is predicted all the same.
  CompiledKernel damaged = kernel;
  damaged.cubin.resize(100);
  const Evaluation fallback = with(damaged, WorkCounting::machine_code);
  ASSERT_TRUE(fallback.correct()) << fallback.message;
  EXPECT_TRUE(fallback.facts.contains("caveat_ptx_counts"));
  EXPECT_DOUBLE_EQ(fallback.time.median_seconds, in_ptx.time.median_seconds);
}

TEST(WorkCounting, TheEvaluatorCountsInMachineCode) {
  Judge judge(test::copy_problem(), test::kCopy);
  const Evaluation result = judge(test::kCopy);
  ASSERT_TRUE(result.correct()) << result.message;
  EXPECT_FALSE(result.facts.contains("caveat_ptx_counts"));
}

// --- Predictions ---

Problem matmul_problem() {
  return test::problem_of(
      R"yaml(
sizes: {n: 1024}
args: {A: {shape: [n, n]}, B: {shape: [n, n]}, C: {dir: out, shape: [n, n]}}
launch: {block: [32, 8], grid: ["cdiv(n, bx)", "cdiv(n, by)"]}
tests: [{n: 33}]
)yaml",
      {test::input("A"), test::input("B"), test::output("C"), test::number("n")});
}

// Which of the thread's coordinates runs along the rows decides whether a warp's accesses coalesce.
std::string matmul(const char* row, const char* column) {
  return std::string("__global__ void k(const float* A, const float* B, float* C, int n) {\n") +
         "  int row = " + row + ";\n  int col = " + column + R"cuda(;
  if (row < n && col < n) {
    float sum = 0.0f;
    for (int i = 0; i < n; ++i) sum += A[row * n + i] * B[i * n + col];
    C[row * n + col] = sum;
  }
}
)cuda";
}
constexpr const char* kX = "blockIdx.x * blockDim.x + threadIdx.x";
constexpr const char* kY = "blockIdx.y * blockDim.y + threadIdx.y";

TEST(PredictTime, CoalescingAMatrixProductPaysFourfold) {
  const Problem problem = matmul_problem();
  const double slow = seconds(problem, matmul(kX, kY));
  const double fast = seconds(problem, matmul(kY, kX));
  EXPECT_GT(slow, 4.0 * fast);
  // 2 * 1024^3 operations cannot beat the peak.
  EXPECT_GT(fast, 2.0 * 1024.0 * 1024.0 * 1024.0 / test::device("h200").peak_fp32_flops());
}

// A thread of the product loads 2 * 1024 floats, one of the copy what nobody else wants.
TEST(PredictTime, ReuseIsWhatThreadsLoadOverWhatMemoryDelivers) {
  const Evaluation product = predicted(matmul_problem(), matmul(kY, kX));
  EXPECT_NEAR(product.facts.at("global_load_reuse"), 1024.0, 100.0);
  const Evaluation copy = predicted(test::copy_problem(), test::kCopy);
  EXPECT_NEAR(copy.facts.at("global_load_reuse"), 1.0, 0.05);
}

std::string shared_kernel(int stride) {
  return R"cuda(
__global__ void k(const float* in, float* out, int n) {
  __shared__ float values[1024];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int j = threadIdx.x; j < 1024; j += blockDim.x) values[j] = in[j];
  __syncthreads();
  float sum = 0.0f;
  #pragma unroll 1
  for (int r = 0; r < 256; ++r) sum += values[(threadIdx.x * )cuda" +
         std::to_string(stride) + R"cuda( + r) & 1023];
  if (i < n) out[i] = sum;
}
)cuda";
}

TEST(PredictTime, BankConflictsCost) {
  const Problem problem = test::copy_problem();
  const Evaluation free = predicted(problem, shared_kernel(1));
  const Evaluation conflicting = predicted(problem, shared_kernel(32));
  ASSERT_TRUE(free.correct()) << free.message;
  ASSERT_TRUE(conflicting.correct()) << conflicting.message;
  EXPECT_GT(conflicting.time.median_seconds, 4.0 * free.time.median_seconds);
  EXPECT_NEAR(conflicting.facts.at("shared_conflict_share"), 31.0 / 32.0, 0.05);
  EXPECT_NEAR(free.facts.at("shared_conflict_share"), 0.0, 0.01);
  EXPECT_NE(conflicting.bottleneck.find("shared"), std::string::npos) << conflicting.bottleneck;
}

TEST(PredictTime, ALargeCopyTakesLittleMoreThanItsBytes) {
  Problem problem = test::copy_problem();
  problem.bench = {{{"n", 1 << 26}}};
  const Evaluation result = predicted(problem, test::kCopy);
  ASSERT_TRUE(result.correct()) << result.message;
  // 8 bytes an element at the rate the best copy was measured at. One element a thread does not
  // reach it: an addition of that form ran at 0.79 of it, this copy (64e6 elements,
  // bench/h200/noise.txt) took 1.62 times the ideal.
  const double ideal = 8.0 * (1 << 26) / test::device("h200").dram_bytes_per_second;
  EXPECT_NEAR(result.roofline_seconds, ideal, 1e-9);
  EXPECT_GT(result.time.median_seconds, ideal);
  EXPECT_LT(result.time.median_seconds, 1.65 * ideal);
  // The same copy on devices of less bandwidth.
  EXPECT_GT(seconds(problem, test::kCopy, "h100"), 1.1 * result.time.median_seconds);
  EXPECT_GT(seconds(problem, test::kCopy, "a100"), 1.5 * result.time.median_seconds);
}

TEST(PredictTime, SeveralSizesGiveTheGeometricMean) {
  Problem problem = test::copy_problem();
  const Symbols small = {{"n", 1 << 16}};
  const Symbols large = {{"n", 1 << 24}};
  problem.bench = {small};
  const Evaluation at_small = predicted(problem, test::kCopy);
  problem.bench = {large};
  const Evaluation at_large = predicted(problem, test::kCopy);
  problem.bench = {small, large};
  const Evaluation both = predicted(problem, test::kCopy);
  const auto mean = [](double a, double b) { return std::sqrt(a * b); };
  EXPECT_NEAR(
      both.time.median_seconds / mean(at_small.time.median_seconds, at_large.time.median_seconds),
      1.0, 1e-9);
  EXPECT_NEAR(both.time.low_seconds / mean(at_small.time.low_seconds, at_large.time.low_seconds),
              1.0, 1e-9);
  EXPECT_NEAR(both.roofline_seconds / mean(at_small.roofline_seconds, at_large.roofline_seconds),
              1.0, 1e-9);
  EXPECT_LE(both.time.low_seconds, both.time.median_seconds);
  EXPECT_LE(both.time.median_seconds, both.time.high_seconds);
}

TEST(PredictTime, LaunchesAddUp) {
  const Problem problem = test::copy_problem();
  const auto predict = [&](const LaunchPlan& plan) {
    return predicted_as(test::device("h200"), problem, test::compiled(test::kCopy), plan);
  };
  LaunchPlan twice = problem.launch;
  twice.launches.push_back(twice.launches.front());
  const Evaluation one = predict(problem.launch);
  const Evaluation two = predict(twice);
  ASSERT_TRUE(one.correct()) << one.message;
  ASSERT_TRUE(two.correct()) << two.message;
  EXPECT_NEAR(two.time.median_seconds, 2.0 * one.time.median_seconds,
              1e-9 * one.time.median_seconds);
  EXPECT_NEAR(two.time.low_seconds, 2.0 * one.time.low_seconds, 1e-9 * one.time.low_seconds);
  EXPECT_NEAR(two.time.high_seconds, 2.0 * one.time.high_seconds, 1e-9 * one.time.high_seconds);
  EXPECT_EQ(two.bottleneck, one.bottleneck);
}

TEST(PredictTime, SaysWhyThereIsNoPrediction) {
  Problem problem = test::copy_problem();
  const auto expect = [&](Verdict verdict, const std::string& word, const LaunchPlan& plan,
                          const std::string& source = test::kCopy) {
    const Evaluation result =
        predicted_as(test::device("h200"), problem, test::compiled(source), plan);
    EXPECT_STREQ(name(result.verdict), name(verdict)) << result.message;
    EXPECT_NE(result.message.find(word), std::string::npos) << result.message;
  };
  expect(Verdict::unsupported, "no launch", LaunchPlan{});
  LaunchPlan fat = problem.launch;
  fat.launches.front().dynamic_shared_bytes = 300 << 10;
  expect(Verdict::launch_error, "shared memory", fat);
  LaunchPlan unknown = problem.launch;
  unknown.launches.front().grid[0] = *IntegerExpression::parse("cdiv(width, bx)");
  expect(Verdict::launch_error, "width", unknown);
  expect(Verdict::out_of_bounds, "at the benchmark size {n: 1048576}", problem.launch, R"cuda(
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[n > 100000 ? i + n : i];
}
)cuda");
  // In a block that is not among those whose instructions are counted.
  expect(Verdict::out_of_bounds, "past the end of 'in'", problem.launch, R"cuda(
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[n > 100000 && blockIdx.x == 5 ? i + n : i];
}
)cuda");
  problem.bench.clear();
  expect(Verdict::unsupported, "bench", problem.launch);
}

// --- Whole evaluations ---

TEST(ModelEvaluator, JudgesAndTimesACorrectCandidate) {
  Judge judge(test::copy_problem(), test::kCopy);
  const Evaluation result = judge(R"cuda(
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = in[i] * 1.0f;
}
)cuda");
  ASSERT_TRUE(result.correct()) << result.message;
  EXPECT_GT(result.time.median_seconds, 0.0);
  EXPECT_GT(result.resources.registers_per_thread, 0);
  EXPECT_NE(result.machine_code, Hash128{});
  EXPECT_FALSE(result.bottleneck.empty());
}

TEST(ModelEvaluator, SaysWhatNoRunShows) {
  Judge large(test::copy_problem(), test::kCopy);
  const Evaluation plain = large(test::kCopy);
  ASSERT_TRUE(plain.correct()) << plain.message;
  EXPECT_FALSE(plain.facts.contains(kVolatileShared));
  const Evaluation lanes = large(R"cuda(
__global__ void k(const float* in, float* out, int n) {
  __shared__ volatile float s[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = i < n ? in[i] : 0.0f;
  if (i < n) out[i] = s[threadIdx.x];
}
)cuda");
  ASSERT_TRUE(lanes.correct()) << lanes.message;
  EXPECT_TRUE(lanes.facts.contains(kVolatileShared));
  // Too long to be interpreted as a whole, and not.
  for (const bool is_long : {true, false}) {
    const std::string size = is_long ? "268435456" : "3000";
    Judge judge(test::problem_of(
                    "sizes: {n: " + size +
                        "}\nargs: {in: {shape: [n]}, out: {dir: out, shape: "
                        "[n]}}\nlaunch: {block: 256, grid: \"cdiv(n, bx)\"}\ntests: [{n: 1000}]\n",
                    {test::input("in"), test::output("out"), test::number("n")}),
                test::kCopy);
    EXPECT_EQ(judge(test::kCopy).facts.contains(kSampledBenchSizes), is_long);
  }
}

TEST(ModelEvaluator, ReportsWhatIsWrong) {
  Judge judge(test::copy_problem(), test::kCopy);
  const Evaluation broken = judge("__global__ void k(const float* in, float* out, int n) { oops }");
  EXPECT_EQ(broken.verdict, Verdict::compile_error);
  EXPECT_NE(broken.message.find("oops"), std::string::npos) << broken.message;

  const Evaluation wrong = judge(R"cuda(
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] + 1.0f;
}
)cuda");
  EXPECT_EQ(wrong.verdict, Verdict::wrong_result);
  EXPECT_GT(wrong.resources.registers_per_thread, 0);  // it was compiled
  EXPECT_NE(wrong.machine_code, Hash128{});

  LaunchPlan fat = test::copy_problem().launch;
  fat.launches.front().dynamic_shared_bytes = 300 << 10;
  const Evaluation too_much = judge(test::kCopy, fat);
  EXPECT_EQ(too_much.verdict, Verdict::launch_error);
  EXPECT_NE(too_much.message.find("shared memory"), std::string::npos) << too_much.message;

  LaunchPlan none;
  EXPECT_EQ(judge(test::kCopy, none).verdict, Verdict::unsupported);
}

// An endless candidate: the interpreter's budget grows with the original, the wall clock does not.
TEST(ModelEvaluator, GivesUpWhenItsTimeIsOver) {
  Judge judge(test::problem_of(R"yaml(
sizes: {n: 65536}
args: {in: {shape: [n]}, out: {dir: out, shape: [n]}}
launch: {block: 256, grid: "cdiv(n, bx)"}
tests: [{n: 65536}]
)yaml",
                               {test::input("in"), test::output("out"), test::number("n")}),
              R"cuda(
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i % n];
  #pragma unroll 1
  for (int r = 0; r < 20000; ++r) x = x * 0.5f + 1.0f;
  if (i < n) out[i] = x;
}
)cuda");
  const Evaluation result =
      judge(test::kCopy, test::copy_problem().launch, {.seed = 1, .wall_seconds = 0.3});
  EXPECT_EQ(result.verdict, Verdict::timeout);
  EXPECT_NE(result.message.find("0.3 seconds"), std::string::npos) << result.message;
}

TEST(ModelEvaluator, EqualCandidatesGetEqualEvaluationsOnAnyThread) {
  Judge judge(test::copy_problem(), test::kCopy);
  const std::string source = std::string("// again\n") + test::kCopy;
  const LaunchPlan plan = test::copy_problem().launch;
  std::vector<Evaluation> results(4);
  results[0] = judge(source, plan);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < results.size(); ++i) {
      threads.emplace_back([&, i] { results[i] = judge(source, plan); });
    }
  }
  ASSERT_TRUE(results[0].correct()) << results[0].message;
  for (const Evaluation& result : results) {
    EXPECT_EQ(result.verdict, results[0].verdict);
    EXPECT_EQ(result.time.median_seconds, results[0].time.median_seconds);
    EXPECT_EQ(result.time.low_seconds, results[0].time.low_seconds);
    EXPECT_EQ(result.facts, results[0].facts);
    EXPECT_EQ(result.bottleneck, results[0].bottleneck);
    EXPECT_EQ(result.machine_code, results[0].machine_code);
  }
}

}  // namespace
}  // namespace regraph::model_evaluator_test
