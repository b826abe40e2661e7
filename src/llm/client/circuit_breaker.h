// Remembers failures that will not pass, so that nobody asks again.
#pragma once

#include "llm/chat/chat.h"

#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace regraph::llm {

// Opens for all models after `unauthorised`, for one after `unknown_model`, and never closes.
// Thread-safe.
class CircuitBreaker {
 public:
  // Notes an error if it is one of the two.
  void note(const std::string& model, const ChatError& error);
  // The error that a request for `model` would end with, with no attempts and no usage.
  [[nodiscard]] std::optional<ChatError> open(const std::string& model) const;

 private:
  mutable std::mutex mutex_;
  std::optional<ChatError> all_;
  std::map<std::string, ChatError> models_;
};

}  // namespace regraph::llm
