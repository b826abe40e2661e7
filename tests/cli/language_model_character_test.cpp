// What becomes of a search when the model is of no use, or answers as a real one did.
#include "cli/language_model_case.h"

#include <filesystem>
#include <string>

namespace regraph::language_model_character_test {
namespace {

class LanguageModelCharacter : public test::LanguageModelCase {};

// Models that are of no use end a search well, and the result says what they did.
TEST_F(LanguageModelCharacter, OneThatDeclinesEverythingCostsNoEvaluation) {
  const std::string url = serve({"--character", "declining"});
  const auto alone =
      run(search(example("transpose"), url, {"--evaluations", "6", "--output", "alone"}));
  ASSERT_EQ(alone.exit_code, 3) << alone.error;
  const auto result = alone.json();
  EXPECT_EQ(result.at("stopped"), "exhausted");
  EXPECT_EQ(result.at("evaluations"), 0);
  EXPECT_EQ(result.at("language_model").at("declined"), 3);
  EXPECT_EQ(result.at("language_model").at("repairs"), 0);
  // The rewriter has its whole budget beside it.
  const auto both =
      run(search(example("transpose"), url, {"--evaluations", "6", "--output", "both"}, "both"));
  ASSERT_EQ(both.exit_code, 0) << both.error;
  EXPECT_EQ(both.json().at("evaluations"), 6);
  EXPECT_GT(both.json().at("language_model").at("declined"), 3);
}

TEST_F(LanguageModelCharacter, OneThatSeesNothingToGainIsNotAskedAgain) {
  const std::string url = serve({"--character", "satisfied"});
  const auto result =
      run(search(example("transpose"), url, {"--evaluations", "6", "--output", "a"})).json();
  EXPECT_EQ(result.at("stopped"), "exhausted");
  EXPECT_EQ(result.at("language_model").at("requests"), 1);
  EXPECT_EQ(result.at("language_model").at("empty_lists"), 1);
}

TEST_F(LanguageModelCharacter, StepsOfItsOwnAreTriedAndKept) {
  const std::string url = serve({"--character", "inventive"});
  const auto ended =
      run(search(example("transpose"), url, {"--evaluations", "6", "--output", "a"}));
  ASSERT_EQ(ended.exit_code, 0) << ended.error;
  const auto result = ended.json();
  EXPECT_GT(result.at("speedup"), 2.0);
  ASSERT_GT(result.at("new_steps").size(), 0U);
  const auto& step = result.at("new_steps").at(0);
  EXPECT_EQ(step.at("verified"), 1);
  EXPECT_GT(step.at("best_speedup"), 2.0);
  EXPECT_NE(step.at("title").get<std::string>().find("trick"), std::string::npos);
  EXPECT_EQ(result.at("best").at("steps").at(0).at("step"), step.at("step"));
}

TEST_F(LanguageModelCharacter, OneThatGoesRoundInCirclesComesToAnEnd) {
  const std::string url = serve({"--character", "circling"});
  const auto result =
      run(search(example("transpose"), url, {"--evaluations", "6", "--output", "a"})).json();
  EXPECT_EQ(result.at("stopped"), "exhausted");
  EXPECT_LE(result.at("evaluations"), 2);
  EXPECT_LE(result.at("language_model").at("requests"), 6);
}

// What a strong model answered, given again to the same tasks: prompts that cannot get these tasks
// asked any more, a reader that refuses these answers, or a search that passes them by, fail here.
TEST_F(LanguageModelCharacter, AConversationWithARealModelStillLeadsSomewhere) {
  struct Case {
    const char* kernel;
    double least_speedup;
  };
  for (const Case& one : {Case{"block_dct", 25.0}, Case{"local_alignment", 20.0}}) {
    const std::filesystem::path root = REGRAPH_SOURCE_DIR;
    const std::string kernel = one.kernel;
    const std::filesystem::path file =
        (root / "tests/llm/conversations" / kernel).replace_extension("jsonl");
    const std::filesystem::path source =
        (root / "bench/partner" / kernel / kernel).replace_extension("cu");
    const std::string url = serve({"--conversation", file.string()});
    const auto ended = run(
        search(source.string(), url,
               {"--evaluations", "12", "--seed", "1", "--output", kernel, "--evaluator", "model"},
               "both"));
    stop_servers();
    ASSERT_EQ(ended.exit_code, 0) << ended.error;
    const auto result = ended.json();
    EXPECT_GT(result.at("speedup"), one.least_speedup) << result.at("language_model");
    const auto& use = result.at("language_model");
    // Other candidates of the conversation build on code that the rewriter of its day made.
    EXPECT_GE(use.at("candidates"), 1);
    EXPECT_EQ(use.at("verdicts").size(), 1U) << use;  // every one of them was correct
    EXPECT_EQ(use.at("rejected").size(), 0U) << use;
  }
}

}  // namespace
}  // namespace regraph::language_model_character_test
