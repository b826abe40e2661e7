// Where the answers of consumers arrive.
#pragma once

#include "base/cancellation.h"
#include "fleet/nats/nats_message.h"
#include "fleet/nats/nats_session.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

namespace regraph::fleet {

// A job, or why there is none.
[[nodiscard]] bool is_job(const Message& message);

// Thread-safe.
class PullBox {
 public:
  explicit PullBox(std::weak_ptr<NatsSession> session) : session_(std::move(session)) {}

  void hear(Message message);
  // Waits for a message until then; nothing also where the caller should look at its cancellation.
  [[nodiscard]] std::optional<Message> next(std::chrono::steady_clock::time_point until);
  // Gives back the jobs that nobody took, and those that come from now on.
  void close();

 private:
  void give_back(const Message& message);

  std::weak_ptr<NatsSession> session_;
  std::mutex mutex_;
  std::condition_variable come_;
  std::deque<Message> messages_;
  bool closed_ = false;
};

}  // namespace regraph::fleet
