#include "report/likely_answer.h"

#include "base/files.h"
#include "report/report_test_support.h"
#include "report/run_directory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

namespace regraph::likely_answer_test {
namespace {

// A search that found two candidates on one path, within the uncertainty of the original's 1 ms.
struct LikelyAnswerTest : testing::Test {
  LikelyAnswerTest() {
    add(0, std::nullopt, {}, 1e-3);
    add(1, 0, {"restrict_ldg", {}, 1}, 0.9e-3);
    add(2, 1, {"block_size", {{"x", "128"}}, 1}, 0.75e-3);
  }
  void add(std::uint32_t id, std::optional<std::uint32_t> parent, StepProposal step,
           double seconds) {
    StateRecord state;
    state.id = id;
    state.parent = parent;
    state.step = std::move(step);
    auto candidate = std::make_shared<Candidate>();
    candidate->source = test::kFaster;
    candidate->plan = run.problem.launch;
    candidate->plan.launches.front().block = {128, 1, 1};
    candidate->assumptions = {"buffers do not overlap"};
    state.candidate = candidate;
    state.evaluation.verdict = Verdict::correct;
    state.evaluation.time = test::predicted_time(seconds);
    run.outcome.states.push_back(state);
  }
  test::Run run{false};
};

TEST_F(LikelyAnswerTest, IsTheFastestThatIsRight) {
  const RunReport report = run.report();
  const auto likely = likely_answer(report);
  ASSERT_TRUE(likely.has_value());
  EXPECT_EQ(likely->state->id, 2U);
  EXPECT_NEAR(likely->speedup, 1.0 / 0.75, 1e-9);
  EXPECT_NEAR(likely->low, 0.8 / 0.9, 1e-9);
  EXPECT_NEAR(likely->high, 1.2 / 0.6, 1e-9);
  EXPECT_EQ(likely_text(*likely), "1.33x by restrict_ldg, block_size(x=128)");
  const std::string text = result_text(report);
  EXPECT_NE(text.find("likely    1.33x by restrict_ldg"), std::string::npos) << text;
  EXPECT_NE(text.find("out/likely.cu"), std::string::npos) << text;
}

TEST_F(LikelyAnswerTest, WrongAndDroppedOnesDoNotCount) {
  run.outcome.states[2].evaluation.verdict = Verdict::wrong_result;
  RunReport report = run.report();
  ASSERT_TRUE(likely_answer(report).has_value());
  EXPECT_EQ(likely_answer(report)->state->id, 1U);
  FinalistRecord dropped;
  dropped.state = 1;
  dropped.dropped = true;
  run.outcome.finalists = {dropped};
  EXPECT_FALSE(likely_answer(run.report()).has_value());
}

TEST_F(LikelyAnswerTest, SmallGainsAreNone) {
  run.outcome.states.resize(1);
  add(1, 0, {"restrict_ldg", {}, 1}, 0.97e-3);
  const RunReport report = run.report();
  EXPECT_FALSE(likely_answer(report).has_value());
  EXPECT_EQ(result_text(report).find("likely"), std::string::npos);
}

TEST_F(LikelyAnswerTest, ThereIsNoneBesideAClaimOrAMeasurement) {
  run.improve();
  EXPECT_FALSE(likely_answer(run.report()).has_value());
  test::Run measured(false);
  measured.outcome.states = run.outcome.states;
  measured.outcome.baseline_evaluation.time.method = TimeMethod::measured;
  EXPECT_FALSE(likely_answer(measured.report()).has_value());
}

TEST_F(LikelyAnswerTest, AWithdrawnClaimIsNone) {
  RunReport report = run.report();
  report.program.emplace();
  report.program->ran = true;
  report.program->same = false;
  EXPECT_FALSE(likely_answer(report).has_value());
}

TEST_F(LikelyAnswerTest, LiesInTheRunDirectory) {
  const TemporaryDirectory folder = *TemporaryDirectory::create("regraph-likely-test");
  ASSERT_TRUE(write_run_directory(run.report(folder.path().string())));
  EXPECT_EQ(*read_file(folder.path() / "likely.cu", 1 << 20), test::kFaster);
  const auto manifest = read_file(folder.path() / "likely.regraph.yaml", 1 << 20);
  ASSERT_TRUE(manifest.ok());
  EXPECT_NE(manifest->find("128"), std::string::npos) << *manifest;
  EXPECT_EQ(*read_file(folder.path() / "best.cu", 1 << 20), test::kOriginal);
  EXPECT_NE(result_json(run.report()).find("\"likely\": {"), std::string::npos);
}

}  // namespace
}  // namespace regraph::likely_answer_test
