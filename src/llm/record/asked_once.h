// Equal requests of one run are sent once.
#pragma once

#include "llm/chat/chat.h"

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace regraph::llm {

// Passes requests on. One that equals another under way waits for it, one that equals an earlier
// one gets that answer; both count as not sent (ChatAnswer::attempts is 0, and so are its tokens
// and seconds). Failures are not kept: whoever waited asks again by itself. Thread-safe.
class AskedOnce final : public ChatModel {
 public:
  // `inner` must outlive this.
  explicit AskedOnce(ChatModel& inner) : inner_(inner) {}

  [[nodiscard]] ChatResult complete(const ChatRequest& request,
                                    const Cancellation& cancellation) override;
  // Requests that were answered without being passed on.
  [[nodiscard]] int saved() const;

 private:
  struct Question {
    std::shared_ptr<const ChatAnswer> answer;
    bool under_way = false;
  };

  ChatModel& inner_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Question> questions_;  // by request_key
  int saved_ = 0;
};

}  // namespace regraph::llm
