#include "session/session.h"

#include "report/run_report.h"
#include "session/opened_problem.h"
#include "session/opened_session.h"

namespace regraph::session_test {
namespace {

class SessionOf : public test::SessionTest {};

TEST_F(SessionOf, OpensJudgesAndSearches) {
  write_row_sums();
  const auto session = open();
  ASSERT_TRUE(session) << session.error().message;
  EXPECT_EQ((*session)->problem().signature.name, "row_sums");
  EXPECT_EQ((*session)->evaluator_name(), "model");
  const Evaluation original = (*session)->evaluate((*session)->original(), {.seed = 1}, never);
  ASSERT_TRUE(original.correct()) << original.message;

  SearchConfig config = (*session)->configuration();
  config.budget.evaluations = 4;
  config.jobs = 2;
  const auto expander = (*session)->expander({}, config);
  ASSERT_TRUE(expander) << expander.error().message;
  const auto found = (*session)->search({config, **expander});
  ASSERT_TRUE(found) << found.error().message;
  const SearchOutcome& outcome = found->outcome;
  EXPECT_EQ(outcome.verdict, SpeedVerdict::fast);
  EXPECT_GT(outcome.log_speedup, 0.5);
  // The library's answer is the text's: nobody has to decide once more.
  EXPECT_NE((*session)->text(*found, config).find("row_sums"), std::string::npos);

  // What was found can be judged again from its text alone.
  const auto again = (*session)->read_candidate(outcome.best.source, never);
  ASSERT_TRUE(again) << again.error().message;
}

// Taken apart, c[i] is what was stored in b[i]; the compiler makes other code of that.
TEST_F(SessionOf, ReadsAKernelAsItStandsWhereItsPartsCompileDifferently) {
  write("k.cu", R"(
__global__ void chained(const float* a, char* b, int* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  c[i] = b[i] = (char)a[i];
}
)");
  write("k.regraph.yaml", R"yaml(sizes: {n: 4096}
args:
  a: {dir: in, shape: [n], init: "uniform(0, 100)"}
  b: {dir: out, shape: [n]}
  c: {dir: out, shape: [n]}
launch: {block: 128, grid: "cdiv(n, bx)"}
tests: [{n: 300}]
)yaml");
  const auto session = open();
  ASSERT_TRUE(session) << session.error().message;
  EXPECT_TRUE((*session)->opened().rewritable) << (*session)->opened().opaque_reason;
  ASSERT_NE((*session)->original().form, nullptr);
  EXPECT_NE((*session)->original().source.find("c[i] = b[i] = (char)a[i];"), std::string::npos)
      << (*session)->original().source;
  // A candidate's text is read in the same way.
  const auto again = (*session)->read_candidate((*session)->original().source, never);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_NE(again->form, nullptr);
}

TEST_F(SessionOf, JudgesACandidateThatComputesSomethingElse) {
  write_row_sums();
  const auto session = open();
  ASSERT_TRUE(session) << session.error().message;
  std::string wrong = test::kRowSums;
  wrong.replace(wrong.find("i < columns"), 11, "i < columns - 1");
  const auto candidate = (*session)->read_candidate(wrong, never);
  ASSERT_TRUE(candidate) << candidate.error().message;
  const Evaluation evaluation = (*session)->evaluate(*candidate, {.seed = 1}, never);
  EXPECT_EQ(evaluation.verdict, Verdict::wrong_result) << evaluation.message;
}

TEST_F(SessionOf, RefusesACandidateWithOtherParameters) {
  write_row_sums();
  const auto session = open();
  ASSERT_TRUE(session) << session.error().message;
  const auto candidate = (*session)->read_candidate(
      "__global__ void row_sums(const float* in, float* out) { out[0] = in[0]; }", never);
  ASSERT_FALSE(candidate);
  EXPECT_EQ(candidate.error().code, ErrorCode::refused);
}

TEST_F(SessionOf, TellsWhoseFaultAFailureIs) {
  const auto missing = open();
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().cause, FailureCause::usage);
  EXPECT_NE(missing.error().message.find("k.cu"), std::string::npos) << missing.error().message;

  write("k.cu", "int main() { return 0; }\n");
  const auto empty = open();
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().cause, FailureCause::unusable_kernel);

  write_row_sums();
  SessionOptions nowhere = options();
  nowhere.device = "h9000";
  const auto device = Session::open(nowhere, installation, never);
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().cause, FailureCause::usage);
  EXPECT_NE(device.error().message.find("h200"), std::string::npos)
      << "known devices are not listed: " << device.error().message;

  Cancellation stopped;
  stopped.request();
  const auto interrupted = Session::open(options(), installation, stopped);
  ASSERT_FALSE(interrupted);
  EXPECT_EQ(interrupted.error().cause, FailureCause::interrupted);
}

}  // namespace
}  // namespace regraph::session_test
