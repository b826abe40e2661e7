#include "llm/record/asked_once.h"

#include <chrono>

namespace regraph::llm {

namespace {

// How often a cancellation is looked at while somebody else's answer is waited for.
constexpr std::chrono::milliseconds kPollInterval{20};

}  // namespace

ChatResult AskedOnce::complete(const ChatRequest& request, const Cancellation& cancellation) {
  const std::string key = request_key(request);
  {
    std::unique_lock lock(mutex_);
    while (questions_[key].under_way) {
      changed_.wait_for(lock, kPollInterval);
      if (cancellation.requested()) return ChatError{ChatFailure::cancelled, "cancelled", 0, {}};
    }
    Question& question = questions_[key];
    if (question.answer != nullptr) {
      ++saved_;
      ChatAnswer answer = *question.answer;
      answer.usage = {.reported = answer.usage.reported};
      answer.seconds = 0.0;
      answer.attempts = 0;
      return answer;
    }
    question.under_way = true;
  }
  ChatResult result = inner_.complete(request, cancellation);
  {
    const std::lock_guard lock(mutex_);
    Question& question = questions_[key];
    question.under_way = false;
    if (result) question.answer = std::make_shared<const ChatAnswer>(*result);
  }
  changed_.notify_all();
  return result;
}

int AskedOnce::saved() const {
  const std::lock_guard lock(mutex_);
  return saved_;
}

}  // namespace regraph::llm
