#include "llm/record/chat_text.h"

#include "llm/record/scripted_model.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regraph::llm::chat_text_test {
namespace {

TEST(ChatText, RequestsComeBackEqual) {
  ChatRequest request = request_of("caf\xc3\xa9 \"quoted\"\n");
  request.seed = -7;
  request.choices = 3;
  request.json_schema = R"({"type":"object"})";
  request.reasoning_effort = "low";
  request.reasoning_tokens = 512;
  EXPECT_EQ(read_request(parse_compact(compact_text(request_json(request)))), request);
  request.temperature.reset();
  request.seed.reset();
  request.json_schema.reset();
  EXPECT_EQ(read_request(parse_compact(compact_text(request_json(request)))), request);
}

TEST(ChatText, AnswersAndErrorsComeBackEqual) {
  ChatAnswer answer = answer_of("code");
  answer.choices.push_back({"", "no", "thoughts", FinishReason::content_filter});
  answer.usage.cached_tokens = 30;
  answer.usage.reasoning_tokens = 4;
  const auto read = read_answer(parse_compact(compact_text(answer_json(answer))));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->choices, answer.choices);
  EXPECT_EQ(read->usage, answer.usage);
  EXPECT_EQ(read->model, answer.model);
  EXPECT_EQ(read->seconds, answer.seconds);
  for (int index = 0; index <= static_cast<int>(ChatFailure::cancelled); ++index) {
    const ChatError error{static_cast<ChatFailure>(index), "why", 2, answer.usage};
    const auto same = read_error(parse_compact(compact_text(error_json(error))));
    ASSERT_TRUE(same);
    EXPECT_EQ(same->failure, error.failure);
    EXPECT_EQ(same->message, "why");
    EXPECT_EQ(same->attempts, 2);
    EXPECT_EQ(same->usage, error.usage);
  }
}

TEST(ChatText, OtherJsonIsNothing) {
  for (const char* text : {"", "null", "[]", "{}", R"({"choices":[]})", R"({"choices":[1]})",
                           R"({"choices":[{"text":5}]})", R"({"model":1,"messages":[]})",
                           R"({"model":"m","messages":[{"role":"robot","text":""}]})",
                           R"({"failure":"tired"})", "[[[[[[[[[[[[1]]]]]]]]]]]]"}) {
    const nlohmann::json json = parse_compact(text);
    EXPECT_FALSE(read_answer(json)) << text;
    EXPECT_FALSE(read_request(json)) << text;
    EXPECT_FALSE(read_error(json)) << text;
  }
  // Numbers that are lies count as not given.
  const auto answer = read_answer(parse_compact(
      R"({"choices":[{"text":"x"}],"attempts":-1,"seconds":-5,
          "usage":{"prompt_tokens":99999999999999999999,"completion_tokens":1.5}})"));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->attempts, 0);
  EXPECT_EQ(answer->seconds, 0.0);
  EXPECT_EQ(answer->usage.prompt_tokens, 0);
  EXPECT_EQ(answer->usage.completion_tokens, 0);
}

TEST(RequestKey, TellsEveryFieldApart) {
  const ChatRequest base = request_of("a");
  ChatRequest other = base;
  EXPECT_EQ(request_key(base), request_key(other));
  EXPECT_EQ(request_key(base).size(), 32U);
  std::vector<ChatRequest> others(8, base);
  others[0].model = "big";
  others[1].messages[1].text = "b";
  others[2].messages[0].role = Role::assistant;
  others[3].temperature.reset();
  others[4].seed = 0;
  others[5].max_tokens = 101;
  others[6].choices = 2;
  others[7].json_schema = "";
  for (std::size_t first = 0; first < others.size(); ++first) {
    EXPECT_NE(request_key(others[first]), request_key(base)) << first;
    for (std::size_t second = 0; second < first; ++second)
      EXPECT_NE(request_key(others[first]), request_key(others[second]));
  }
}

}  // namespace
}  // namespace regraph::llm::chat_text_test
