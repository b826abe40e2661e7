// The table of hostile and honest kernels on a GPU: judged by the evaluator that a search uses, and
// once more by the guards of the GPU alone, so that neither leans on the interpreter.
#include "eval/gpu/gpu_evaluator.h"
#include "eval/gpu/probation.h"
#include "eval/gpu/protocol/gpu_device.h"
#include "eval/gpu/protocol/gpu_run.h"
#include "eval/verify/fault_verdict.h"
#include "gpu_machine.h"
#include "hostile/hostile_suite.h"

#include <cstdio>

namespace regraph::hostile_test {
namespace {

using namespace gpu;

constexpr std::uint64_t kSeed = 20240917;

class Hostile : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!machine().missing().empty()) GTEST_SKIP() << machine().missing();
    auto loaded = test::load_suite_problem(GetParam());
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    suite_ = std::make_unique<test::SuiteProblem>(std::move(*loaded));
    architecture_ = machine().device().architecture;
    auto original = compile_plan(machine().compiler(), suite_->problem.source,
                                 suite_->problem.launch, architecture_, machine().never());
    ASSERT_TRUE(original.ok()) << original.error().message;
    original_ = std::move(*original);
    VerifierConfiguration checks;
    checks.make_double_shadow = [this](const Cancellation& cancellation) {
      return verify::make_double_shadow(machine().compiler(), suite_->problem,
                                        suite_->problem.source, architecture_, cancellation);
    };
    verifier_ = std::make_unique<Verifier>(suite_->problem, original_, checks);
  }

  static test::GpuMachine& machine() { return test::GpuMachine::instance(); }

  std::unique_ptr<test::SuiteProblem> suite_;
  std::string architecture_;
  CompiledPlan original_;
  std::unique_ptr<Verifier> verifier_;
};

TEST_P(Hostile, IsJudgedRight) {
  static test::SuiteTally tally;
  GpuEvaluatorConfig config;
  config.worker = machine().worker();
  config.model = model_of(machine().device());
  config.model_first = false;  // everything that is sound is timed
  config.seed = 3;
  GpuEvaluator evaluator(machine().compiler(), *verifier_, suite_->problem, original_, config);
  EvaluationBudget budget;
  budget.seed = kSeed;
  for (const test::SuiteCandidate& one : suite_->candidates) {
    const Evaluation result = evaluator.evaluate(one.candidate, budget, machine().never());
    EXPECT_EQ(tally.count(one, one.gpu, result.verdict, result.message), "");
  }
  std::printf("on the GPU, so far: %s\n", tally.text().c_str());
}

// What the GPU makes of a kernel that neither admission nor the interpreter has looked at.
class GuardsAlone {
 public:
  GuardsAlone(const Problem& problem, Verifier& verifier, const CompiledPlan& original)
      : problem_(problem), verifier_(verifier) {
    original_ = timed(original, problem.launch);
    probation_ = std::make_unique<Probation>(machine().worker(), problem, verifier, original_);
  }

  VerificationResult judge(const Candidate& candidate) {
    VerificationResult result;
    auto compiled = compile_plan(machine().compiler(), candidate.source, candidate.plan,
                                 machine().device().architecture, machine().never());
    if (!compiled.ok()) return failed(Verdict::compile_error, compiled.error().message);
    const auto kernel = timed(*compiled, candidate.plan);
    if (!kernel) return failed(Verdict::unsupported, "the parameters cannot be read");
    Result<VerificationResult, Failure> tested =
        probation_->judge(*kernel, kSeed, machine().never());
    if (!tested.ok()) return failed(Verdict::unsupported, tested.error().message);
    if (!tested->correct()) return *tested;
    return time(kernel);
  }

 private:
  static test::GpuMachine& machine() { return test::GpuMachine::instance(); }

  static VerificationResult failed(Verdict verdict, std::string message) {
    VerificationResult result;
    result.verdict = verdict;
    result.message = std::move(message);
    return result;
  }

  static std::shared_ptr<const PreparedCandidate> timed(const CompiledPlan& compiled,
                                                        const LaunchPlan& plan) {
    auto kernel = std::make_shared<PreparedCandidate>();
    kernel->compiled = compiled;
    kernel->plan = plan;
    auto loaded = verify::load_plan(compiled, plan);
    if (!loaded.ok()) return nullptr;
    kernel->loaded = std::move(*loaded);
    return kernel;
  }

  VerificationResult time(const std::shared_ptr<const PreparedCandidate>& kernel) {
    if (!session_) {
      const auto scale = verifier_.largest_test(kSeed, machine().never());
      if (!scale.ok()) return failed(Verdict::unsupported, scale.error().message);
      TimingConfig config;
      config.worker = machine().worker();
      config.seed = 5;
      config.arithmetic = scale->arithmetic;
      config.test = scale->symbols;
      session_ = std::make_unique<TimingSession>(problem_, original_, std::move(config));
      auto baseline = session_->race(original_, machine().never());
      if (!baseline.ok()) return failed(Verdict::unsupported, baseline.error().message);
    }
    auto report = session_->race(kernel, machine().never());
    if (!report.ok()) {
      return failed(verify::verdict_of(fault_kind(report.error())), report.error().message);
    }
    for (const BenchTiming& bench : report->benches) {
      if (!bench.difference.empty()) return failed(Verdict::wrong_result, bench.difference);
    }
    return failed(Verdict::correct, "");
  }

  const Problem& problem_;
  Verifier& verifier_;
  std::shared_ptr<const PreparedCandidate> original_;
  std::unique_ptr<Probation> probation_;
  std::unique_ptr<TimingSession> session_;
};

TEST_P(Hostile, IsJudgedRightByTheGuardsOfTheGpuAlone) {
  static test::SuiteTally tally;
  GuardsAlone guards(suite_->problem, *verifier_, original_);
  for (const test::SuiteCandidate& one : suite_->candidates) {
    if (one.alone.empty()) continue;
    const VerificationResult result = guards.judge(one.candidate);
    test::SuiteCandidate silent = one;
    silent.says.clear();  // the interpreter's words
    EXPECT_EQ(tally.count(silent, one.alone, result.verdict, result.message), "");
  }
  std::printf("by the guards of the GPU alone, so far: %s\n", tally.text().c_str());
}

INSTANTIATE_TEST_SUITE_P(, Hostile, testing::ValuesIn(test::suite_problems()),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace regraph::hostile_test
