#include "llm/prompt/choice_and_code.h"

#include <gtest/gtest.h>

namespace regraph::llm::choice_and_code_test {
namespace {

ChatChoice choice(std::string text) {
  return {std::move(text), "", "", FinishReason::stop};
}

TEST(ChoiceAndCode, TheListIsCutOutOfTheAnswer) {
  const auto split =
      split_choice(choice("First this.\n```steps\n{\"steps\": []}\n```\n"
                          "```cuda\n__global__ void f() {}\n```\n"));
  ASSERT_TRUE(split) << split.error().message;
  EXPECT_EQ(split->steps.text, "{\"steps\": []}\n");
  ASSERT_TRUE(split->code);
  EXPECT_EQ(split->code->text, "First this.\n```cuda\n__global__ void f() {}\n```");
}

TEST(ChoiceAndCode, ABlockOfJsonWithStepsWillDo) {
  const auto split = split_choice(
      choice("```json\n{\"steps\": [{\"step\": \"a\", \"why\": \"\"}]}\n```\n"
             "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n```json\n{\"block\": [8]}\n```\n"));
  ASSERT_TRUE(split);
  EXPECT_NE(split->steps.text.find("\"a\""), std::string::npos);
  ASSERT_TRUE(split->code);
  EXPECT_EQ(split->code->text.find("steps"), std::string::npos);
  EXPECT_NE(split->code->text.find("\"block\""), std::string::npos);
}

TEST(ChoiceAndCode, AListAloneHasNoCode) {
  for (const char* text : {"{\"steps\": []}", "```steps\n{\"steps\": []}\n```", "[]"}) {
    const auto split = split_choice(choice(text));
    ASSERT_TRUE(split) << text;
    EXPECT_FALSE(split->code) << text;
  }
}

TEST(ChoiceAndCode, WithoutAListItIsNone) {
  for (const char* text : {"prose", "```cuda\nint a;\n```", "```steps\n{\"steps\": []}", ""})
    EXPECT_FALSE(split_choice(choice(text))) << text;
  ChatChoice cut = choice("```steps\n{\"steps\": []}\n```");
  cut.finish = FinishReason::length;
  EXPECT_FALSE(split_choice(cut));
}

}  // namespace
}  // namespace regraph::llm::choice_and_code_test
