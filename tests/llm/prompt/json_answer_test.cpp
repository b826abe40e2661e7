#include "llm/prompt/json_answer.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regraph::llm::json_answer_test {
namespace {

std::string read(std::string text) {
  ChatChoice choice;
  choice.text = std::move(text);
  const auto value = read_json_answer(choice);
  return value ? value->dump() : value.error().message;
}

TEST(JsonAnswer, ReadsTheWholeAnswerOrItsBlock) {
  EXPECT_EQ(read(" {\"a\": 1}\n"), R"({"a":1})");
  EXPECT_EQ(read("[1]"), "[1]");
  EXPECT_EQ(read("<think>{}</think>{\"a\": 1}"), R"({"a":1})");
  EXPECT_EQ(read("Here:\n```json\n{\"a\": 1}\n```\n"), R"({"a":1})");
  EXPECT_EQ(read("```\n{\"a\": 1}\n```"), R"({"a":1})");
}

TEST(JsonAnswer, OtherAnswersAreErrors) {
  EXPECT_EQ(read("no idea"), "the answer holds no JSON; answer with one object and nothing else");
  EXPECT_EQ(read("```json\n{}\n```\n```json\n{}\n```"),
            "the answer holds several blocks of JSON; answer with one object");
  EXPECT_EQ(read("{\"a\": 1} and so on"), "not valid JSON at line 1, column 10");
  EXPECT_EQ(read(std::string(100, '[')), "JSON nested deeper than 8 levels");
  EXPECT_EQ(read(""), "the answer is empty");
}

}  // namespace
}  // namespace regraph::llm::json_answer_test
