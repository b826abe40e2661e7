#include "llm/prompt/judge_answer.h"

#include "llm/prompt/prompt_library.h"
#include "regraph/regraph_yaml.h"

#include <gtest/gtest.h>

namespace regraph::llm::judge_answer_test {
namespace {

const std::filesystem::path kRoot = REGRAPH_SOURCE_DIR;

class JudgeAnswerTest : public ::testing::Test {
 protected:
  static ChatChoice choice(std::string text) {
    ChatChoice result;
    result.text = std::move(text);
    return result;
  }
  [[nodiscard]] Result<CorrectionAdvice> correction(std::string text) const {
    return parse_correction(choice(std::move(text)),
                            *library.prompt(PromptKind::judge_correction).schema);
  }
  [[nodiscard]] Result<OptimisationAdvice> optimisation(std::string text) const {
    return parse_optimisation(choice(std::move(text)),
                              *library.prompt(PromptKind::judge_optimisation).schema, graph);
  }

  PromptLibrary library = *PromptLibrary::load(kRoot / "graphs" / "prompts");
  StepGraph graph = *load_regraph(kRoot / "graphs" / "cuda.yaml");
};

TEST_F(JudgeAnswerTest, ReadsACorrection) {
  const auto advice = correction(
      R"({"critical_issue": "barrier\n missing", "where": "after the store", "minimal_fix": "add it"})");
  ASSERT_TRUE(advice) << advice.error().message;
  EXPECT_EQ(advice->critical_issue, "barrier missing");
  EXPECT_EQ(advice->text(), "Issue: barrier missing\nWhere: after the store\nFix: add it\n");
}

TEST_F(JudgeAnswerTest, CorrectionsAreStrict) {
  EXPECT_EQ(correction(R"({"critical_issue": "a", "where": "b"})").error().message,
            "the answer: key 'minimal_fix' is missing");
  EXPECT_EQ(correction(R"({"critical_issue": "a", "where": "b", "minimal_fix": "c", "code": "d"})")
                .error()
                .message,
            "the answer: key 'code' is not asked for");
  EXPECT_EQ(
      correction(R"({"critical_issue": ["a"], "where": "b", "minimal_fix": "c"})").error().message,
      "critical_issue: expected a string, found array");
  EXPECT_EQ(
      correction(R"({"critical_issue": "", "where": "b", "minimal_fix": "c"})").error().message,
      "critical_issue: 0 characters, at least 1 needed");
  EXPECT_EQ(correction(R"({"critical_issue": ")" + std::string(241, 'x') +
                       R"(", "where": "b", "minimal_fix": "c"})")
                .error()
                .message,
            "critical_issue: 241 characters, at most 240 are allowed");
  EXPECT_EQ(correction("It deadlocks.").error().message,
            "the answer holds no JSON; answer with one object and nothing else");
}

TEST_F(JudgeAnswerTest, OptimisationsAreRelabelled) {
  const auto advice = optimisation(
      R"({"bottleneck": "uncoalesced loads", "step": "Memory coalescing", "change": "swap x and y"})");
  ASSERT_TRUE(advice) << advice.error().message;
  EXPECT_EQ(advice->step.id, "coalesce_swap");
  EXPECT_EQ(advice->step.why, "uncoalesced loads");
  EXPECT_EQ(advice->change, "swap x and y");
  EXPECT_TRUE(
      optimisation(R"({"bottleneck": "b", "step": "new idea", "change": "c"})")->step.is_new);
  EXPECT_EQ(optimisation(R"({"bottleneck": "b", "step": "init", "change": "c"})").error().message,
            "step: 'init' names no step");
  EXPECT_EQ(optimisation(R"({"bottleneck": "b", "step": 7, "change": "c"})").error().message,
            "step: expected a string, found number");
}

}  // namespace
}  // namespace regraph::llm::judge_answer_test
