#include "llm/prompt/answer_parser.h"

#include <gtest/gtest.h>

namespace regraph::llm::answer_text_test {
namespace {

ChatChoice choice(std::string text, FinishReason finish = FinishReason::stop) {
  ChatChoice result;
  result.text = std::move(text);
  result.finish = finish;
  return result;
}

std::string message(const ChatChoice& choice) {
  const auto text = answer_text(choice, 100);
  return text ? "accepted" : text.error().message;
}

TEST(AnswerText, WhatCannotBeReadIsSaid) {
  EXPECT_EQ(message(choice("fine")), "accepted");
  EXPECT_EQ(message(choice("fine", FinishReason::other)), "accepted");
  EXPECT_EQ(message(choice("fine", FinishReason::length)),
            "the answer was cut off at the limit of tokens; give a shorter one");
  EXPECT_EQ(message(choice("fine", FinishReason::content_filter)),
            "the server withheld the answer");
  EXPECT_EQ(message(choice(std::string(101, 'x'))),
            "the answer is too long: 101 bytes, at most 100 are read");
  EXPECT_EQ(message(choice(std::string("a\0b", 3))), "the answer holds a NUL byte");
  EXPECT_EQ(message(choice("ab\xff")), "the answer is not UTF-8 text (byte 2)");
  EXPECT_EQ(message(choice("")), "the answer is empty");
  EXPECT_EQ(message(choice(" \n\t ")), "the answer is empty");
  EXPECT_EQ(message(choice("<think>x</think> \n")), "the answer is empty");
  ChatChoice refused = choice("");
  refused.refusal = "I will not\ndo that.";
  EXPECT_EQ(message(refused), "the model refused: I will not do that.");
}

}  // namespace
}  // namespace regraph::llm::answer_text_test
