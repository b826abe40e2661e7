#include "llm/client/in_flight_gate.h"

#include "llm/client/pause.h"

#include <algorithm>

namespace regraph::llm {

InFlightGate::InFlightGate(int limit) : limit_(std::max(limit, 1)) {}

InFlightGate::Entry InFlightGate::enter(std::chrono::steady_clock::time_point end,
                                        const Cancellation& cancellation) {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (cancellation.requested()) return Entry::cancelled;
    if (inside_ < limit_) break;
    const auto now = std::chrono::steady_clock::now();
    if (now >= end) return Entry::timed_out;
    left_.wait_until(lock, std::min(end, now + kCancellationPoll));
  }
  most_ = std::max(most_, ++inside_);
  return Entry::entered;
}

void InFlightGate::leave() {
  {
    const std::lock_guard lock(mutex_);
    --inside_;
  }
  left_.notify_one();
}

int InFlightGate::most() const {
  const std::lock_guard lock(mutex_);
  return most_;
}

}  // namespace regraph::llm
