#include "llm/prompt/answer_blocks.h"

#include <gtest/gtest.h>

namespace regraph::llm::answer_blocks_test {
namespace {

std::string rest_of(std::string_view text) {
  const auto rest = without_reasoning(text);
  return rest ? std::string(*rest) : rest.error().message;
}

TEST(AnswerBlocks, SkipsReasoningInFront) {
  EXPECT_EQ(rest_of("<think>\nhm ```cuda\n</think>\n\nanswer"), "answer");
  EXPECT_EQ(rest_of("<think>a</think><reasoning>b</reasoning> answer"), "answer");
  // The opening tag was the server's.
  EXPECT_EQ(rest_of("hm\n</think>\nanswer"), "answer");
  EXPECT_EQ(rest_of("  plain  "), "plain");
  EXPECT_EQ(rest_of("<thin>x</thin>"), "<thin>x</thin>");
}

TEST(AnswerBlocks, TagsWithinCodeAreCode) {
  const std::string text = "```cuda\n// </think>\n```";
  EXPECT_EQ(rest_of("ok\n" + text), "ok\n" + text);
  EXPECT_EQ(rest_of(R"({"code": "</think>"})"), R"({"code": "</think>"})");
}

TEST(AnswerBlocks, ReasoningWithoutEndIsAnError) {
  EXPECT_NE(rest_of("<think>on and on").find("ends within its reasoning"), std::string::npos);
}

TEST(AnswerBlocks, FindsBlocksAndProse) {
  const auto parts =
      split_answer("Before.\n```cuda\nint x;\n```\nBetween.\n~~~ JSON\n{}\n~~~~\nAfter.");
  ASSERT_TRUE(parts) << parts.error().message;
  ASSERT_EQ(parts->blocks.size(), 2U);
  EXPECT_EQ(parts->blocks[0].language, "cuda");
  EXPECT_EQ(parts->blocks[0].text, "int x;\n");
  EXPECT_EQ(parts->blocks[1].language, "json");
  EXPECT_EQ(parts->blocks[1].text, "{}\n");
  EXPECT_EQ(parts->prose, "Before.\nBetween.\nAfter.");
}

TEST(AnswerBlocks, LongerFencesHoldShorterOnes) {
  const auto parts = split_answer("````cpp\n```\nx\n```\n````\n");
  ASSERT_TRUE(parts);
  ASSERT_EQ(parts->blocks.size(), 1U);
  EXPECT_EQ(parts->blocks[0].text, "```\nx\n```\n");
}

TEST(AnswerBlocks, CodeInALineIsProse) {
  const auto parts = split_answer("use ```x``` here\n```x``` there\n");
  ASSERT_TRUE(parts);
  EXPECT_TRUE(parts->blocks.empty());
}

TEST(AnswerBlocks, UnclosedAndTooManyBlocksAreErrors) {
  const auto open = split_answer("```cuda\nint x;\n");
  ASSERT_FALSE(open);
  EXPECT_NE(open.error().message.find("cut off"), std::string::npos);
  std::string many;
  for (int block = 0; block < 33; ++block)
    many += "```\n```\n";
  EXPECT_NE(split_answer(many).error().message.find("more than 32"), std::string::npos);
}

}  // namespace
}  // namespace regraph::llm::answer_blocks_test
