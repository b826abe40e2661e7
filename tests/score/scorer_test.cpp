#include "score/scorer.h"

#include "base/files.h"
#include "kernel/manifest.h"
#include "search/journal_rows.h"
#include "session/expanders.h"
#include "session/opened_session.h"

#include <gtest/gtest.h>

namespace regraph::score::scorer_test {
namespace {

using learn::AnswerOutcome;

// Answers to "reduce across threads" and "unroll" on a kernel that sums rows.
class ScorerTest : public test::SessionTest {
 protected:
  void SetUp() override {
    problem.kernel = "sums/row_sums";
    problem.family = "sums";
    problem.source = test::kRowSums;
    problem.manifest = test::kRowSumsManifest;
    problem.id = problem_id(problem);
    write_row_sums();
    const auto session = open();
    ASSERT_TRUE(session.ok()) << session.error().message;
    plan = journal::plan_text((*session)->original().plan);
    register_states({state("loop_unroll", {{"factor", "4"}, {"loop", "all"}}),
                     state("cross_thread_reduction", {}), choice()});
  }

  [[nodiscard]] RegisteredState state(const std::string& step,
                                      const StepParameters& parameters) const {
    RegisteredState result;
    result.problem = problem.id;
    result.source = test::kRowSums;
    result.plan = plan;
    result.step = step;
    result.parameters = parameters;
    result.id = state_id(result);
    return result;
  }
  [[nodiscard]] RegisteredState choice() const {
    RegisteredState result = state("", {});
    result.task = Task::choose;
    result.id = state_id(result);
    return result;
  }
  void register_states(const std::vector<RegisteredState>& states) {
    std::string text;
    for (const RegisteredState& one : states) {
      text += state_text(one) + '\n';
      ids.push_back(one.id);
    }
    write(StateRegistry::kProblemsFile, problem_text(problem) + '\n');
    write(StateRegistry::kStatesFile, text);
    ScorerOptions options;
    options.states = path("");
    options.device = "h200";
    options.candidate_seconds = 60.0;
    auto opened = Scorer::open(options, installation, never);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    scorer = std::move(*opened);
  }
  [[nodiscard]] Score score(const std::string& completion, std::size_t state = 1,
                            bool cut_off = false) {
    return scorer->score({"item", ids[state], completion, cut_off}, never);
  }
  [[nodiscard]] static std::string fenced(const std::string& code) {
    return "```cuda\n" + code + "```\n";
  }
  // A row a warp, or something that looks like it.
  [[nodiscard]] static std::string by_warps(const std::string& first_column,
                                            const std::string& finish) {
    return fenced(
               "__global__ void row_sums(const float* in, float* out, int rows, int columns) {\n"
               "  int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;\n"
               "  if (row >= rows) return;\n"
               "  float sum = 0.0f;\n"
               "  for (int i = " +
               first_column + "; i < columns; i += 32) sum += in[row * columns + i];\n" + finish +
               "}\n") +
           "```json\n{\"block\": [128], \"grid\": [\"cdiv(rows, 4)\"]}\n```\n";
  }
  static constexpr const char* kShuffles =
      "  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);\n"
      "  if (threadIdx.x % 32 == 0) out[row] = sum;\n";

  RegisteredProblem problem;
  std::string plan;
  std::vector<std::string> ids;
  std::unique_ptr<Scorer> scorer;
};

TEST_F(ScorerTest, ARightAndFastAnswerIsCorrectAndTimed) {
  const Score found = score(by_warps("threadIdx.x % 32", kShuffles));
  EXPECT_EQ(found.facts.outcome, AnswerOutcome::correct) << found.message;
  EXPECT_EQ(found.id, "item");
  EXPECT_GT(found.facts.parent_seconds / found.facts.seconds, 2.0);
  EXPECT_EQ(found.facts.original_seconds, found.facts.parent_seconds);
  EXPECT_FALSE(found.bottleneck.empty());
  // Values were left open: nothing to compare it with.
  EXPECT_FALSE(found.same_as_rewriter.has_value());
  EXPECT_GT(*learn::reward(learn::RewardKind::regraph, found.facts), 0.4);
}

TEST_F(ScorerTest, WhatIsWrongIsToldApart) {
  struct Wrong {
    std::string completion;
    AnswerOutcome outcome;
    const char* says;
  };
  const std::string head =
      "__global__ void row_sums(const float* in, float* out, int rows, int columns) {\n";
  const Wrong answers[] = {
      {"I would rather not.", AnswerOutcome::unreadable, ""},
      {fenced(test::kRowSums), AnswerOutcome::unchanged, "nothing"},
      {fenced(head + "  out[0] = undeclared;\n}\n"), AnswerOutcome::not_compiled, "undeclared"},
      {by_warps("threadIdx.x % 32 + 1", kShuffles), AnswerOutcome::wrong, "expected"},
      {by_warps("threadIdx.x % 32", "  out[row] = sum;\n"), AnswerOutcome::wrong, "race"},
      {fenced(head + "  out[rows + blockIdx.x * blockDim.x + threadIdx.x] = 1.0f;\n}\n"),
       AnswerOutcome::wrong, ""},
      {fenced(head + "  asm(\"exit;\");\n}\n"), AnswerOutcome::unreadable, "assembl"},
      {fenced("__device__ int calls;\n" + head +
              "  int row = blockIdx.x * blockDim.x + threadIdx.x;\n  if (row >= rows) return;\n"
              "  if (calls > 0) return;\n  float sum = 0.0f;\n"
              "  for (int i = 0; i < columns; ++i) sum += in[row * columns + i];\n"
              "  out[row] = sum;\n  if (row == 0) calls = 1;\n}\n"),
       AnswerOutcome::suspicious, ""},
      {std::string("```cuda\n\xff\xfe```\n"), AnswerOutcome::unreadable, "UTF-8"},
      {std::string(1 << 20, 'x'), AnswerOutcome::unreadable, ""},
  };
  for (const Wrong& answer : answers) {
    const Score found = score(answer.completion);
    EXPECT_STREQ(learn::name(found.facts.outcome), learn::name(answer.outcome))
        << answer.completion.substr(0, 200) << "\n"
        << found.message;
    EXPECT_NE(found.message.find(answer.says), std::string::npos) << found.message;
    const auto reward = learn::reward(learn::RewardKind::regraph, found.facts);
    ASSERT_TRUE(reward.has_value());
    EXPECT_LT(*reward, 0.0);
  }
}

TEST_F(ScorerTest, ACutAnswerIsUnreadableHoweverGoodItsBeginning) {
  const Score found = score(by_warps("threadIdx.x % 32", kShuffles), 1, true);
  EXPECT_EQ(found.facts.outcome, AnswerOutcome::unreadable);
}

TEST_F(ScorerTest, RenamedCopiesAreSeenThrough) {
  std::string renamed = test::kRowSums;
  for (std::size_t at = 0; (at = renamed.find("sum ", at)) != std::string::npos; at += 4)
    renamed.replace(at, 4, "acc ");
  const std::size_t last = renamed.find("= sum;");
  ASSERT_NE(last, std::string::npos);
  renamed.replace(last, 6, "= acc;");
  const AnswerOutcome outcome = score(fenced(renamed)).facts.outcome;
  EXPECT_TRUE(outcome == AnswerOutcome::unchanged || outcome == AnswerOutcome::same_machine_code)
      << learn::name(outcome);
}

TEST_F(ScorerTest, TheRewritersOwnAnswerIsRecognised) {
  const auto session = open();
  ASSERT_TRUE(session.ok());
  const auto expander = (*session)->expander({}, (*session)->configuration());
  ASSERT_TRUE(expander.ok());
  const StepProposal unroll{"loop_unroll", {{"factor", "4"}, {"loop", "all"}}};
  const auto child = (*expander)->expander().apply((*session)->original(), unroll, 0, {}, never);
  ASSERT_TRUE(child.ok()) << child.error().message;
  const Score found = score(fenced(child->source), 0);
  EXPECT_TRUE(learn::is_correct(found.facts.outcome)) << found.message;
  ASSERT_TRUE(found.same_as_rewriter.has_value());
  EXPECT_TRUE(*found.same_as_rewriter);
}

TEST_F(ScorerTest, AChoiceIsAppliedByTheRewriter) {
  const Score found = score(R"({"steps": [{"step": "loop_unroll",
                                "parameters": {"factor": "4", "loop": "all"}}]})",
                            2);
  EXPECT_TRUE(learn::is_correct(found.facts.outcome)) << found.message;
  EXPECT_EQ(score(R"({"steps": [{"step": "smem_tile"}]})", 2).facts.outcome,
            AnswerOutcome::unchanged);
  EXPECT_EQ(score("unroll it", 2).facts.outcome, AnswerOutcome::unreadable);
}

TEST_F(ScorerTest, WhatIsNotKnownGetsNoReward) {
  const Score found = scorer->score({"1", "no such state", "anything", false}, never);
  EXPECT_EQ(found.facts.outcome, AnswerOutcome::no_verdict);
  EXPECT_FALSE(learn::reward(learn::RewardKind::regraph, found.facts).has_value());
}

}  // namespace
}  // namespace regraph::score::scorer_test
