// The whole evaluator on a GPU: what it times, what it leaves out, and what it survives.
#include "eval/gpu/gpu_evaluator.h"

#include "eval/gpu/counters/cupti_library.h"
#include "eval/gpu/protocol/gpu_device.h"
#include "gpu_machine.h"
#include "support/closed_cupti.h"

#include <csignal>
#include <fstream>
#include <thread>

namespace regraph::gpu_evaluator_test {
namespace {

using namespace gpu;

constexpr const char* kManifest = R"yaml(
sizes: {n: 1024}
args: {in: {shape: [n]}, out: {dir: out, shape: [n]}}
launch: {block: 256, grid: "cdiv(n, bx)"}
tests: [{n: 1000}, {n: 1}]
bench: [{n: 8000000}]
counters: {bytes: 8*n}
)yaml";

std::string body(const std::string& statements) {
  return "__global__ void k(const float* in, float* out, int n) {\n"
         "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  " +
         statements + "\n}\n";
}
// Reads far apart: slow, and right.
const std::string kSlow = body(
    "if (i < n) { int j = (int)((long long)i * 4097 % n); float x = in[i];\n"
    "  for (int s = 0; s < 8; ++s) { j = (int)((long long)j * 31 % n); x += 0.0f * in[j]; }\n"
    "  out[i] = 2.0f * x; }");
const std::string kFast = body("if (i < n) out[i] = 2.0f * in[i];");

class Evaluating : public test::GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    problem_ = test::problem_of(
        kManifest, {test::buffer("in", true), test::buffer("out", false), test::number("n")},
        kSlow);
    original_ = CompiledPlan::of(machine().compile(kSlow), problem_.launch);
    verifier_ = std::make_unique<Verifier>(problem_, original_);
    config_.worker = machine().worker();
    config_.model = model_of(machine().device());
    config_.seed = 3;
  }

  GpuEvaluator& evaluator() {
    if (!evaluator_) {
      evaluator_ = std::make_unique<GpuEvaluator>(machine().compiler(), *verifier_, problem_,
                                                  original_, config_);
    }
    return *evaluator_;
  }

  static Candidate candidate(const Problem& problem, const std::string& source) {
    Candidate made;
    made.source = source;
    made.plan = problem.launch;
    return made;
  }

  Evaluation evaluate(const std::string& source) {
    EvaluationBudget budget;
    budget.seed = 7;
    Evaluation result =
        evaluator().evaluate(candidate(problem_, source), budget, machine().never());
    std::printf("%-16s %-9s %9.2f us  %s  %s\n", name(result.verdict), name(result.time.method),
                result.time.median_seconds * 1e6, result.bottleneck.c_str(),
                result.message.c_str());
    return result;
  }

  Problem problem_;
  CompiledPlan original_;
  std::unique_ptr<Verifier> verifier_;
  GpuEvaluatorConfig config_;
  std::unique_ptr<GpuEvaluator> evaluator_;
};

TEST_F(Evaluating, TimesAreMeasuredAndTheAnswerOnceMore) {
  const Evaluation slow = evaluate(kSlow);
  ASSERT_TRUE(slow.correct()) << slow.message;
  const Evaluation fast = evaluate(kFast);
  ASSERT_TRUE(fast.correct()) << fast.message;
  EXPECT_EQ(fast.time.method, TimeMethod::measured);
  EXPECT_LT(fast.time.high_seconds, slow.time.low_seconds);
  auto measured = evaluator().measure_answer(candidate(problem_, kFast), machine().never());
  ASSERT_TRUE(measured.ok()) << measured.error().message;
  EXPECT_EQ(measured->processes, 3);
  ASSERT_EQ(measured->benches.size(), 1U);
  EXPECT_GT(measured->cold.low, 1.0);
  EXPECT_LE(measured->cold.low, measured->cold.ratio);
  EXPECT_GE(measured->cold.high, measured->cold.ratio);
  EXPECT_GE(measured->benches[0].cold.samples, 3 * TimingSession::kFewestSamples);
  std::printf("cold %.2fx [%.2f, %.2f], hot %.2fx [%.2f, %.2f]\n", measured->cold.ratio,
              measured->cold.low, measured->cold.high, measured->hot.ratio, measured->hot.low,
              measured->hot.high);
  // It goes on afterwards.
  EXPECT_TRUE(evaluate(body("if (i < n) out[i] = in[i] + in[i];")).correct());
}

// The interpreter never sees these: they go wrong at sizes only that are too large for it, also
// where it looks behind branches.
TEST_F(Evaluating, FaultsAtTheBenchSizeAreVerdictsAndAreSurvived) {
  config_.model_first = false;
  ASSERT_TRUE(evaluate(kSlow).correct());
  const std::string right = "if (i < n) out[i] = 2.0f * in[i]; if (n > 7000000 && i == n - 77) ";
  const std::vector<std::pair<Verdict, std::string>> cases = {
      {Verdict::out_of_bounds, "out[(long long)n << 10] = 1.0f;"},
      {Verdict::misaligned_access, "*(float2*)((char*)out + 4) = make_float2(1.0f, 2.0f);"},
      {Verdict::crash, "assert(n < 0);"},
      {Verdict::timeout, "while (((volatile float*)out)[0] != 12345.5f) {}"},
      {Verdict::wrong_result, "out[7] = 0.0f;"},
  };
  for (const auto& [verdict, statement] : cases) {
    const Evaluation result = evaluate(body(right + statement));
    EXPECT_STREQ(name(result.verdict), name(verdict)) << statement << ": " << result.message;
    EXPECT_TRUE(evaluate(kFast).correct()) << "after " << statement;
  }
  EXPECT_EQ(evaluator().statistics().faults_on_gpu, static_cast<int>(cases.size()));
}

TEST_F(Evaluating, WhatTheModelPutsFarBehindIsNotTimed) {
  ASSERT_TRUE(evaluate(kSlow).correct());
  ASSERT_TRUE(evaluate(kFast).correct());
  const int timed = evaluator().statistics().timed;
  const Evaluation slow_again = evaluate(kSlow + "// the same work\n");
  EXPECT_TRUE(slow_again.correct());
  EXPECT_EQ(slow_again.time.method, TimeMethod::predicted);
  EXPECT_EQ(evaluator().statistics().pruned, 1);
  EXPECT_EQ(evaluator().statistics().timed, timed);
}

// Killed from outside, as the kernel's out-of-memory killer would.
TEST_F(Evaluating, AWorkerKilledInBetweenIsReplaced) {
  ASSERT_TRUE(evaluate(kSlow).correct());
  const int before = evaluator().statistics().workers;
  int killed = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string pid = entry.path().filename();
    if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream status(entry.path() / "stat");
    std::string number;
    std::string program;
    std::string state;
    int parent = 0;
    status >> number >> program >> state >> parent;
    if (program != "(regraph-eval)" || parent != getpid()) continue;
    kill(std::stoi(pid), SIGKILL);
    ++killed;
  }
  EXPECT_GE(killed, 2);  // of probation and of timing
  EXPECT_TRUE(evaluate(kFast).correct());
  EXPECT_GT(evaluator().statistics().workers, before);
}

TEST_F(Evaluating, ABenchSizeThatDoesNotFitIsSaid) {
  std::string manifest = kManifest;
  manifest.replace(manifest.find("in: {shape: [n]}"), 16, "in: {shape: [n, 8]}");
  problem_ = test::problem_of(
      manifest, {test::buffer("in", true), test::buffer("out", false), test::number("n")}, kSlow);
  problem_.bench = {{{"n", 2'000'000'000}}};
  verifier_ = std::make_unique<Verifier>(problem_, original_);
  const Evaluation result = evaluate(kFast);
  EXPECT_EQ(result.verdict, Verdict::unsupported);
  EXPECT_NE(result.message.find("bench"), std::string::npos) << result.message;
}

TEST_F(Evaluating, CountersReplaceEstimatesWhereTheyCanBeRead) {
  const auto toolkit = find_cuda_toolkit();
  for (const auto& file : cupti_candidates(toolkit.ok() ? toolkit->root : std::filesystem::path()))
    config_.cupti.push_back(file.string());
  const Evaluation result = evaluate(kSlow);
  ASSERT_TRUE(result.correct()) << result.message;
  const GpuStatistics statistics = evaluator().statistics();
  std::printf("%d profiled; %s\n", statistics.profiled, statistics.no_counters.c_str());
  // Without rights the evaluation is the same, and the reason is known.
  EXPECT_EQ(statistics.profiled, statistics.no_counters.empty() ? 1 : 0);
}

// The same search without the right to read counters: times, verdicts and a note of what is
// missing.
TEST_F(Evaluating, ClosedCountersLeaveANoteAndNothingElse) {
  const auto toolkit = find_cuda_toolkit();
  const auto real = cupti_candidates(toolkit.ok() ? toolkit->root : std::filesystem::path());
  for (const char* library : {"closed_cupti_before.so", "closed_cupti_late.so"}) {
    const auto closed =
        test::closed_cupti(test::beside_this_program(library),
                           std::filesystem::path(::testing::TempDir()) / library, real);
    if (!closed) GTEST_SKIP() << "this toolkit has no libcupti.so.13";
    config_.cupti = {closed->string()};
    evaluator_.reset();
    const Evaluation result = evaluate(kFast);
    EXPECT_TRUE(result.correct()) << result.message;
    EXPECT_GT(result.time.median_seconds, 0.0);
    EXPECT_FALSE(result.bottleneck.empty());  // by the model and the interpreter
    const GpuStatistics statistics = evaluator().statistics();
    EXPECT_EQ(statistics.profiled, 0);
    for (const char* word : {"hardware counters", "INSUFFICIENT_PRIVILEGES", "CAP_SYS_ADMIN",
                             "NVreg_RestrictProfilingToAdminUsers"}) {
      EXPECT_NE(statistics.no_counters.find(word), std::string::npos) << statistics.no_counters;
    }
    std::printf("%s: %s\n", library, statistics.no_counters.c_str());
  }
}

TEST_F(Evaluating, SeveralThreadsShareTheGpu) {
  ASSERT_TRUE(evaluate(kSlow).correct());
  std::vector<std::thread> threads;
  std::vector<int> correct(6, 0);
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([this, i, &correct] {
      const std::string source = kFast + "// " + std::to_string(i) + "\n";
      correct[static_cast<std::size_t>(i)] = evaluate(source).correct() ? 1 : 0;
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  for (const int one : correct)
    EXPECT_EQ(one, 1);
}

}  // namespace
}  // namespace regraph::gpu_evaluator_test
