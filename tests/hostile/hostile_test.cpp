// The whole table without a GPU: compiled by NVRTC, judged as a search judges it.
#include "eval/model/model_evaluator.h"
#include "eval/real_compiler.h"
#include "hostile/hostile_suite.h"

#include <gtest/gtest.h>

#include <cstdio>

namespace regraph::hostile_test {
namespace {

constexpr std::uint64_t kSeed = 20240917;
// Enough for every honest kernel; a bomb is to hit it soon.
constexpr double kCompileSeconds = 8.0;
// Where every access is watched, comparing at a bench size takes longer than a search would wait.
#ifdef __SANITIZE_ADDRESS__
constexpr double kEvaluationSeconds = 300.0;
#else
constexpr double kEvaluationSeconds = 60.0;
#endif

test::SuiteTally& tally() {
  static test::SuiteTally all;
  return all;
}

class Hostile : public testing::TestWithParam<std::string> {
 protected:
  static void TearDownTestSuite() { std::printf("%s\n", tally().text().c_str()); }
};

TEST_P(Hostile, IsJudgedRight) {
  const auto suite = test::load_suite_problem(GetParam());
  ASSERT_TRUE(suite.ok()) << suite.error().message;
  CompilerConfiguration configuration = test::real_configuration();
  configuration.wall_seconds = kCompileSeconds;
  Compiler compiler(configuration);
  const DeviceSpec device = *find_device("h200");
  const Cancellation never;
  const auto original = compile_plan(compiler, suite->problem.source, suite->problem.launch,
                                     std::string(device.architecture), never);
  ASSERT_TRUE(original.ok()) << original.error().message;
  VerifierConfiguration checks;
  checks.make_double_shadow = [&](const Cancellation& cancellation) {
    return verify::make_double_shadow(compiler, suite->problem, suite->problem.source,
                                      std::string(device.architecture), cancellation);
  };
  Verifier verifier(suite->problem, *original, checks);
  const auto warnings = verifier.check_original(kSeed, never);
  ASSERT_TRUE(warnings.ok()) << warnings.error().message;
  ModelEvaluator evaluator(suite->problem, compiler, verifier, device);
  EvaluationBudget budget;
  budget.seed = kSeed;
  budget.wall_seconds = kEvaluationSeconds;
  int honest = 0;
  for (const test::SuiteCandidate& one : suite->candidates) {
    const Evaluation result = evaluator.evaluate(one.candidate, budget, never);
    const std::string trouble = tally().count(one, one.model, result.verdict, result.message);
    EXPECT_EQ(trouble, "");
    honest += one.hostile ? 0 : 1;
  }
  EXPECT_GT(honest, 0);
}

INSTANTIATE_TEST_SUITE_P(, Hostile, testing::ValuesIn(test::suite_problems()),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace regraph::hostile_test
