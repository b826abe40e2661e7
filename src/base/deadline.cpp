#include "base/deadline.h"

#include <algorithm>
#include <chrono>

namespace regraph {

namespace {

using Clock = std::chrono::steady_clock;

// Short enough for a person who interrupts, long enough to cost nothing.
constexpr auto kPollInterval = std::chrono::milliseconds(20);
// Beyond this a limit is none; a clock's arithmetic would overflow.
constexpr double kLongestSeconds = 1e8;

}  // namespace

Deadline::Deadline(double seconds, const Cancellation& outer)
    : outer_(outer), watcher_([this, seconds] { watch(seconds); }) {}

Deadline::~Deadline() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  ended_.notify_all();
  watcher_.join();
}

void Deadline::watch(double seconds) {
  const bool limited = seconds > 0.0;
  const auto end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(
                         std::chrono::duration<double>(std::min(seconds, kLongestSeconds)));
  std::unique_lock lock(mutex_);
  while (!over_) {
    if (outer_.requested()) {
      inner_.request();
      return;
    }
    const auto now = Clock::now();
    if (limited && now >= end) {
      expired_.store(true);
      inner_.request();
      return;
    }
    ended_.wait_until(lock, limited ? std::min(now + kPollInterval, end) : now + kPollInterval);
  }
}

}  // namespace regraph
