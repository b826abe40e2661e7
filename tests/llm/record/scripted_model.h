// A model in the same process that does what a test says; the network has tests of its own.
#pragma once

#include "llm/chat/chat.h"

#include <atomic>
#include <functional>
#include <utility>

namespace regraph::llm {

class ScriptedModel final : public ChatModel {
 public:
  using Answerer = std::function<ChatResult(const ChatRequest&)>;
  explicit ScriptedModel(Answerer answerer) : answerer_(std::move(answerer)) {}

  ChatResult complete(const ChatRequest& request, const Cancellation&) override {
    ++calls;
    return answerer_(request);
  }
  std::atomic<int> calls{0};

 private:
  Answerer answerer_;
};

inline ChatRequest request_of(const std::string& text, int max_tokens = 100) {
  ChatRequest request;
  request.model = "tiny";
  request.messages = {{Role::system, "You rewrite kernels."}, {Role::user, text}};
  request.temperature = 0.25;
  request.max_tokens = max_tokens;
  return request;
}

inline ChatAnswer answer_of(const std::string& text, std::int64_t prompt = 40,
                            std::int64_t completion = 10) {
  ChatAnswer answer;
  answer.choices.push_back({text, "", "", FinishReason::stop});
  answer.usage.prompt_tokens = prompt;
  answer.usage.completion_tokens = completion;
  answer.usage.reported = true;
  answer.model = "tiny";
  answer.seconds = 0.5;
  return answer;
}

}  // namespace regraph::llm
