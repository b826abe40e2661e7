#include "llm/client/decode_answer.h"

#include <gtest/gtest.h>

namespace regraph::llm::decode_answer_test {
namespace {

DecodedAnswer decoded(std::string_view body) {
  auto result = decode_answer(body);
  if (result) return std::move(*result);
  ADD_FAILURE() << result.error().why;
  return {.choices = std::vector<ChatChoice>(1), .usage = {}, .model = ""};
}

std::string why_not(std::string_view body) {
  const auto result = decode_answer(body);
  return result ? "decoded" : result.error().why;
}

TEST(DecodeAnswer, ReadsOpenAi) {
  const DecodedAnswer answer = decoded(R"({"id": "chatcmpl-1", "object": "chat.completion",
    "model": "gpt-4o-2024-08-06", "choices": [{"index": 0, "message": {"role": "assistant",
    "content": "42", "refusal": null, "annotations": []}, "logprobs": null, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 1200, "completion_tokens": 300, "total_tokens": 1500,
    "prompt_tokens_details": {"cached_tokens": 1024, "audio_tokens": 0},
    "completion_tokens_details": {"reasoning_tokens": 256}}})");
  const TokenUsage usage{1200, 1024, 300, 256, true};
  EXPECT_EQ(answer.usage, usage);
  EXPECT_EQ(answer.model, "gpt-4o-2024-08-06");
  ASSERT_EQ(answer.choices.size(), 1U);
  EXPECT_EQ(answer.choices[0], (ChatChoice{"42", "", "", FinishReason::stop}));
}

TEST(DecodeAnswer, ReadsReasoningUnderItsNames) {
  for (const char* name : {"reasoning_content", "reasoning", "thinking"}) {
    const DecodedAnswer answer =
        decoded(std::string(R"({"choices": [{"message": {"content": "a", ")") + name +
                R"(": "because"}, "finish_reason": "stop"}]})");
    EXPECT_EQ(answer.choices[0].reasoning, "because") << name;
    EXPECT_EQ(answer.choices[0].text, "a") << name;
  }
}

TEST(DecodeAnswer, ReadsContentInParts) {
  const DecodedAnswer answer = decoded(R"({"choices": [{"message": {"content": [
    {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
    {"type": "text", "text": "a"}, {"type": "image_url", "image_url": {}}, "b",
    {"type": "refusal", "refusal": "no"}, 7, null, {"text": "c"}]}}]})");
  EXPECT_EQ(answer.choices[0], (ChatChoice{"abc", "no", "hm", FinishReason::other}));
}

TEST(DecodeAnswer, TakesContentThatIsNullOrMissing) {
  const DecodedAnswer answer = decoded(R"({"choices": [
    {"message": {"content": null, "refusal": "I cannot"}, "finish_reason": "stop"},
    {"message": {"tool_calls": []}, "finish_reason": "tool_calls"},
    {"message": {"content": {"odd": 1}}, "finish_reason": null}]})");
  ASSERT_EQ(answer.choices.size(), 3U);
  EXPECT_EQ(answer.choices[0], (ChatChoice{"", "I cannot", "", FinishReason::stop}));
  EXPECT_EQ(answer.choices[1], (ChatChoice{"", "", "", FinishReason::other}));
  EXPECT_EQ(answer.choices[2], (ChatChoice{"", "", "", FinishReason::other}));
}

TEST(DecodeAnswer, KnowsFinishReasons) {
  const auto finish = [](const char* word) {
    return decoded(std::string(R"({"choices": [{"message": {"content": ""}, "finish_reason": ")") +
                   word + "\"}]}")
        .choices[0]
        .finish;
  };
  EXPECT_EQ(finish("stop"), FinishReason::stop);
  EXPECT_EQ(finish("eos_token"), FinishReason::stop);
  EXPECT_EQ(finish("length"), FinishReason::length);
  EXPECT_EQ(finish("content_filter"), FinishReason::content_filter);
  EXPECT_EQ(finish("insufficient_system_resource"), FinishReason::other);
}

TEST(DecodeAnswer, ReadsUsageOfOthersAndDoesNotTrustIt) {
  const DecodedAnswer deepseek = decoded(R"({"choices": [{"message": {"content": "a"}}],
    "usage": {"prompt_tokens": 10, "prompt_cache_hit_tokens": 4, "completion_tokens": 2}})");
  EXPECT_EQ(deepseek.usage, (TokenUsage{10, 4, 2, 0, true}));
  const DecodedAnswer silent =
      decoded(R"({"choices": [{"message": {"content": "a"}}], "usage": null})");
  EXPECT_EQ(silent.usage, (TokenUsage{0, 0, 0, 0, false}));
  const DecodedAnswer liar = decoded(R"({"choices": [{"message": {"content": "a"}}], "usage": {
    "prompt_tokens": -5, "completion_tokens": 1e30, "prompt_tokens_details": {"cached_tokens": 9},
    "completion_tokens_details": "none"}})");
  EXPECT_EQ(liar.usage, (TokenUsage{0, 0, 1'000'000'000'000, 0, true}));
}

TEST(DecodeAnswer, LeavesOutChoicesWithoutAMessage) {
  const DecodedAnswer answer = decoded(R"({"choices": [null, {}, 3, {"message": "text"},
    {"error": {"code": 502, "message": "died"}, "message": {"content": "half"}},
    {"message": {"content": "whole"}}, {"text": "old"}]})");
  ASSERT_EQ(answer.choices.size(), 2U);
  EXPECT_EQ(answer.choices[0].text, "whole");
  EXPECT_EQ(answer.choices[1].text, "old");
}

TEST(DecodeAnswer, FindsErrorsBehindAStatusOf200) {
  for (const char* body : {R"({"error": {"code": 429, "message": "slow down"}})",
                           R"({"choices": [], "error": {"code": 429, "message": "slow down"}})",
                           R"({"choices": [{"finish_reason": "error", "message": {"content": ""},
            "error": {"code": 429, "message": "slow down"}}]})",
                           R"({"object": "error", "code": 429, "message": "slow down"})"}) {
    const auto result = decode_answer(body);
    ASSERT_FALSE(result) << body;
    const std::optional<ServerError>& error = result.error().error;
    ASSERT_TRUE(error.has_value()) << body;
    EXPECT_EQ(error->status, 429) << body;
    EXPECT_EQ(error->message, "slow down") << body;
  }
}

TEST(DecodeAnswer, SaysWhatIsWrong) {
  EXPECT_EQ(why_not(""), "the answer is empty");
  EXPECT_EQ(why_not("{\"choices\": [{\"mess"), "the answer is not JSON");
  EXPECT_EQ(why_not("<html></html>"), "the answer is not JSON");
  EXPECT_EQ(why_not("{\"choices\": \"\xFF\"}"), "the answer is not UTF-8 at byte 13");
  EXPECT_EQ(why_not(R"({"choices": "\ud800"})"), "the answer is not JSON");
  EXPECT_EQ(why_not(R"({"choices": []})"), "the answer has no choice with a message");
  EXPECT_EQ(why_not(R"({"hello": 1})"), "the answer is JSON, but not of the chat protocol");
  EXPECT_EQ(why_not("[]"), "the answer is JSON, but not of the chat protocol");
  EXPECT_EQ(why_not(R"({"choices": {"message": {}}})"),
            "the answer is JSON, but not of the chat protocol");
}

TEST(DecodeAnswer, KeepsWhatWasPaidForNothing) {
  const auto result =
      decode_answer(R"({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4}})");
  EXPECT_EQ(result.error().usage, (TokenUsage{3, 0, 4, 0, true}));
}

TEST(DecodeAnswer, SurvivesDepth) {
  EXPECT_EQ(why_not(std::string(500'000, '[')), "the answer is not JSON");
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_EQ(
      decoded(R"({"choices": [{"message": {"content": "a"}}], "x": )" + deep + "}").choices[0].text,
      "a");
}

}  // namespace
}  // namespace regraph::llm::decode_answer_test
