// What sources give, with the real compiler and interpreter.
#include "dataset/collect_run.h"
#include "dataset/collect_slowdowns.h"
#include "dataset/collect_walks.h"
#include "dataset/data_set.h"
#include "dataset/pair_maker.h"
#include "report/run_report.h"
#include "score/score_problem.h"
#include "session/expanders.h"
#include "session/opened_session.h"
#include "session/recorded_run.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace regraph::dataset::collect_test {
namespace {

class CollectTest : public test::SessionTest {
 protected:
  void SetUp() override { write_row_sums(); }
  [[nodiscard]] KernelSource kernel() const {
    return {path("k.cu"), "sums/row_sums", "sums", "h200", "model", {}};
  }
  // A search that is over, in the directory "run".
  void make_run() {
    const auto session = open();
    ASSERT_TRUE(session.ok()) << session.error().message;
    SearchConfig config = (*session)->configuration();
    config.budget.evaluations = 6;
    const auto expander = (*session)->expander({}, config);
    ASSERT_TRUE(expander.ok());
    auto run = RecordedRun::begin(**session, config, false, path("run"));
    ASSERT_TRUE(run.ok()) << run.error().message;
    SearchRequest request{config, **expander};
    request.cancellation = &never;
    const auto result = (*run)->search(**session, request);
    ASSERT_TRUE(result.ok()) << result.error().message;
    const RunReport report = (*session)->report(*result, config, path("run"));
    ASSERT_TRUE((*run)->finish(report, {0, path("run"), "", ""}).ok());
  }
};

TEST_F(CollectTest, ARunGivesPairsThatHoldAgain) {
  make_run();
  const auto collected = collect_run({path("run"), "", "sums", {}, 40, false}, installation, never);
  ASSERT_TRUE(collected.ok()) << collected.error().message;
  ASSERT_FALSE(collected->pairs.empty());
  EXPECT_GE(collected->answers.size(), collected->pairs.size());
  const PairRecord& pair = collected->pairs.front();
  EXPECT_GT(pair.speedup_low, 1.0);
  EXPECT_EQ(pair.verdict, "correct");
  EXPECT_EQ(pair.family, "sums");
  // It lies somewhere else now: the problem is all that is needed.
  const auto problem = score::ScoreProblem::open(collected->problems.front(), {"h200", "model"},
                                                 installation, never);
  ASSERT_TRUE(problem.ok()) << problem.error().message;
  const auto holds = execute_pair(pair, (*problem)->session(), 99, never);
  ASSERT_TRUE(holds.ok()) << holds.error().message;
  EXPECT_TRUE(holds->timed_alike);
}

TEST_F(CollectTest, MeasuredTimesAreNotJudgedByPredictedOnes) {
  make_run();
  const auto collected = collect_run({path("run"), "", "sums", {}, 40, false}, installation, never);
  ASSERT_TRUE(collected.ok() && !collected->pairs.empty());
  PairRecord pair = collected->pairs.front();
  // By predictions it would not hold.
  std::swap(pair.slow, pair.fast);
  std::swap(pair.launch_slow, pair.launch_fast);
  pair.id = pair_id(pair);
  const auto problem = score::ScoreProblem::open(collected->problems.front(), {"h200", "model"},
                                                 installation, never);
  ASSERT_TRUE(problem.ok()) << problem.error().message;
  EXPECT_FALSE(execute_pair(pair, (*problem)->session(), 99, never).ok());
  pair.method = "measured";
  pair.id = pair_id(pair);
  const auto correct = execute_pair(pair, (*problem)->session(), 99, never);
  ASSERT_TRUE(correct.ok()) << correct.error().message;
  EXPECT_FALSE(correct->timed_alike);
}

TEST_F(CollectTest, ARunTeachesToChooseAsWell) {
  make_run();
  RunSource source{path("run"), "", "sums", {}, 40, false};
  const auto applied = collect_run(source, installation, never);
  source.task = score::Task::choose;
  const auto chosen = collect_run(source, installation, never);
  ASSERT_TRUE(applied.ok() && chosen.ok());
  EXPECT_EQ(chosen->pairs.size(), applied->pairs.size());
  ASSERT_EQ(chosen->answers.size(), applied->answers.size());
  EXPECT_LT(chosen->states.size(), applied->states.size());  // one for each kernel, not each step
  for (const StateItem& state : chosen->states)
    EXPECT_EQ(state.step, "");
  for (std::size_t i = 0; i < chosen->answers.size(); ++i) {
    const AnswerItem& answer = chosen->answers[i];
    EXPECT_TRUE(answer.completion.starts_with("{\"steps\":[{\"step\":\"" + answer.step + "\""))
        << answer.completion;
    EXPECT_EQ(answer.step, applied->answers[i].step);
    EXPECT_EQ(answer.outcome, applied->answers[i].outcome);
    EXPECT_EQ(answer.seconds, applied->answers[i].seconds);
    EXPECT_TRUE(std::ranges::any_of(
        chosen->states, [&](const StateItem& state) { return state.id == answer.state; }));
  }
}

TEST_F(CollectTest, AKnownWrongPairIsRefused) {
  make_run();
  const auto collected = collect_run({path("run"), "", "sums", {}, 40, false}, installation, never);
  ASSERT_TRUE(collected.ok() && !collected->pairs.empty());
  // The same name and parameters, another result: the sum of all rows.
  PairRecord pair = collected->pairs.front();
  pair.fast =
      "__global__ void row_sums(const float* in, float* out, int rows, int columns) {\n"
      "  int row = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (row < rows) out[row] = in[row];\n}\n";
  pair.launch_fast = pair.launch_slow;
  pair.id = pair_id(pair);
  const auto problem = score::ScoreProblem::open(collected->problems.front(), {"h200", "model"},
                                                 installation, never);
  ASSERT_TRUE(problem.ok());
  const auto refused = execute_pair(pair, (*problem)->session(), 1, never);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("wrong_result"), std::string::npos)
      << refused.error().message;
  pair.description += "!";
  pair.fast += " ";
  EXPECT_NE(execute_pair(pair, (*problem)->session(), 1, never).error().message.find("changed"),
            std::string::npos);
}

TEST_F(CollectTest, ARunThatWasCutShortSaysSo) {
  make_run();
  EXPECT_FALSE(collect_run({path("nowhere"), "", "", {}, 1, false}, installation, never).ok());
  // No result in it: as if it had been killed before.
  std::filesystem::create_directories(path("cut"));
  const auto session = open();
  ASSERT_TRUE(session.ok());
  const SearchConfig config = (*session)->configuration();
  { ASSERT_TRUE(RecordedRun::begin(**session, config, false, path("begun")).ok()); }
  const auto cut = collect_run({path("begun"), "", "", {}, 1, false}, installation, never);
  ASSERT_FALSE(cut.ok());
  EXPECT_EQ(cut.error().cause, FailureCause::usage);
}

TEST_F(CollectTest, WalksAreTheSameEachTime) {
  WalkSource source;
  source.kernel = kernel();
  source.walks = 3;
  source.depth = 2;
  const auto one = collect_walks(source, installation, never);
  ASSERT_TRUE(one.ok()) << one.error().message;
  EXPECT_GE(one->answers.size(), 3U);
  for (const AnswerItem& answer : one->answers)
    EXPECT_EQ(answer.outcome, kUnjudged);
  EXPECT_TRUE(one->pairs.empty());
  EXPECT_EQ(collected_text(*one), collected_text(*collect_walks(source, installation, never)));
  source.judge = true;
  const auto judged = collect_walks(source, installation, never);
  ASSERT_TRUE(judged.ok());
  EXPECT_EQ(judged->answers.size(), one->answers.size());
  for (const AnswerItem& answer : judged->answers)
    EXPECT_EQ(answer.outcome, "correct") << answer.completion;
}

TEST_F(CollectTest, ChoicesNameAStepOfTheRewriter) {
  WalkSource source;
  source.kernel = kernel();
  source.task = score::Task::choose;
  source.walks = 2;
  const auto collected = collect_walks(source, installation, never);
  ASSERT_TRUE(collected.ok()) << collected.error().message;
  ASSERT_FALSE(collected->answers.empty());
  EXPECT_EQ(collected->answers.front().completion.find("{\"steps\":[{\"step\":"), 0U);
}

TEST_F(CollectTest, ASlowedKernelComesWithTheStepThatRepairsIt) {
  write("k.cu",
        "__global__ void scale(const float* __restrict__ in, float* __restrict__ out, int rows, "
        "int columns) {\n"
        "  int x = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "  int y = blockIdx.y * blockDim.y + threadIdx.y;\n"
        "  if (x < columns && y < rows) out[y * columns + x] = 2.0f * in[y * columns + x];\n}\n");
  write("k.regraph.yaml",
        "sizes: {rows: 2048, columns: 2048}\n"
        "args:\n  in: {dir: in, shape: [rows, columns]}\n"
        "  out: {dir: out, shape: [rows, columns]}\n"
        "launch: {block: [32, 32], grid: [\"cdiv(columns, bx)\", \"cdiv(rows, by)\"]}\n"
        "tests: [{rows: 33, columns: 70}]\n");
  const auto collected = collect_slowdowns({kernel(), 1}, installation, never);
  ASSERT_TRUE(collected.ok()) << collected.error().message;
  bool swapped = false;
  for (const PairRecord& pair : collected->pairs) {
    EXPECT_GT(pair.speedup_low, 1.0);
    EXPECT_FALSE(pair.step.empty());
    swapped = swapped || pair.step == "coalesce_swap";
  }
  std::string dropped;
  for (const auto& [reason, count] : collected->dropped)
    dropped += std::to_string(count) + " " + reason + "; ";
  EXPECT_TRUE(swapped) << collected->pairs.size() << " pairs; " << dropped;
}

}  // namespace
}  // namespace regraph::dataset::collect_test
