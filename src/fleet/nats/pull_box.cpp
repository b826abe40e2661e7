#include "fleet/nats/pull_box.h"

#include "fleet/nats/pull.h"

#include <algorithm>
#include <utility>

namespace regraph::fleet {
namespace {

constexpr std::chrono::milliseconds kLookFromBox(40);

}  // namespace

bool is_job(const Message& message) {
  // Else whoever publishes into an inbox would have us write to a place of their choice.
  return message.status == 0 && message.reply.starts_with("$JS.ACK.");
}

void PullBox::hear(Message message) {
  {
    const std::lock_guard lock(mutex_);
    if (!closed_) {
      messages_.push_back(std::move(message));
      come_.notify_one();
      return;
    }
  }
  give_back(message);
}

std::optional<Message> PullBox::next(std::chrono::steady_clock::time_point until) {
  std::unique_lock lock(mutex_);
  const auto end = std::min(until, std::chrono::steady_clock::now() + kLookFromBox);
  come_.wait_until(lock, end, [&] { return !messages_.empty(); });
  if (messages_.empty()) return std::nullopt;
  Message message = std::move(messages_.front());
  messages_.pop_front();
  return message;
}

void PullBox::close() {
  std::deque<Message> left;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    left.swap(messages_);
  }
  for (const Message& message : left)
    give_back(message);
}

void PullBox::give_back(const Message& message) {
  if (!is_job(message)) return;
  if (const auto session = session_.lock()) tell_consumer(*session, message.reply, kGiveBack);
}

}  // namespace regraph::fleet
