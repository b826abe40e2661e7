#include "dataset/data_forms.h"

#include "dataset/sample_items.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regraph::dataset::data_forms_test {
namespace {

using Json = nlohmann::json;

class DataFormsTest : public ::testing::Test {
 protected:
  DataFormsTest() {
    state = sample::state(problem, "loop_unroll");
    collected.problems = {problem};
    collected.states = {state};
  }
  [[nodiscard]] std::vector<Json> rows(const std::string& form) const {
    DataForms forms = data_forms(collected, {{"adding", "train"}});
    std::vector<Json> rows;
    for (const std::string& line : forms[form]["train"])
      rows.push_back(Json::parse(line));
    return rows;
  }

  const score::RegisteredProblem problem = sample::problem("adding", "k");
  StateItem state;
  Collected collected;
};

TEST_F(DataFormsTest, OnlyAnswersShownToBeFasterAreTaught) {
  collected.answers = {sample::answer(state, 1.0, "fast"),
                       sample::answer(state, 1.95, "perhaps faster"),
                       sample::answer(state, 4.0, "slow"), sample::answer(state, 0.0, "wrong")};
  const auto sft = rows("sft");
  ASSERT_EQ(sft.size(), 1U);
  EXPECT_EQ(sft[0]["messages"][2]["content"], "fast");
  EXPECT_EQ(sft[0]["messages"][0]["role"], "system");
  EXPECT_EQ(sft[0]["state"], state.id);
  ASSERT_EQ(rows("pc").size(), 1U);
  EXPECT_EQ(rows("pc")[0]["completion"][0]["content"], "fast");
}

TEST_F(DataFormsTest, UnjudgedAnswersAreTaughtAndSayIt) {
  AnswerItem answer = sample::answer(state, 0.0, "text");
  answer.outcome = kUnjudged;
  collected.answers = {answer};
  ASSERT_EQ(rows("sft").size(), 1U);
  EXPECT_EQ(rows("sft")[0]["verdict"], kUnjudged);
  EXPECT_TRUE(rows("kto").empty());
  EXPECT_TRUE(rows("pref").empty());
}

TEST_F(DataFormsTest, EveryJudgedAnswerIsLabelled) {
  collected.answers = {sample::answer(state, 1.0, "fast"), sample::answer(state, 2.0, "as fast"),
                       sample::answer(state, 4.0, "slow"), sample::answer(state, 0.0, "wrong")};
  std::map<std::string, bool> labels;
  for (const Json& row : rows("kto"))
    labels[row["completion"][0]["content"]] = row["label"].get<bool>();
  EXPECT_EQ(labels, (std::map<std::string, bool>{
                        {"fast", true}, {"as fast", true}, {"slow", false}, {"wrong", false}}));
}

TEST_F(DataFormsTest, PreferencesNeedSeparatedIntervals) {
  collected.answers = {sample::answer(state, 1.0, "fast"), sample::answer(state, 1.04, "nearly"),
                       sample::answer(state, 0.0, "wrong")};
  std::set<std::pair<std::string, std::string>> pairs;
  for (const Json& row : rows("pref"))
    pairs.emplace(row["chosen"][0]["content"], row["rejected"][0]["content"]);
  EXPECT_EQ(pairs, (std::set<std::pair<std::string, std::string>>{{"fast", "wrong"},
                                                                  {"nearly", "wrong"}}));
}

TEST_F(DataFormsTest, PromptsNameTheirState) {
  const auto rl = rows("rl");
  ASSERT_EQ(rl.size(), 1U);
  EXPECT_EQ(rl[0]["state"], state.id);
  EXPECT_EQ(rl[0]["prompt"][1]["content"], "loop_unroll please");
  EXPECT_EQ(rl[0]["stage"], 1);
  const auto verl = rows("verl");
  ASSERT_EQ(verl.size(), 1U);
  EXPECT_EQ(verl[0]["reward_model"]["ground_truth"], state.id);
  EXPECT_EQ(verl[0]["extra_info"]["index"], 0);
}

}  // namespace
}  // namespace regraph::dataset::data_forms_test
