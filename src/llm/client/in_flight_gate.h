// How many requests may be under way at a time.
#pragma once

#include "base/cancellation.h"

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace regraph::llm {

// A counting semaphore whose waiters can be cancelled. Thread-safe.
class InFlightGate {
 public:
  enum class Entry : unsigned char { entered, timed_out, cancelled };

  // `limit` below 1 counts as 1.
  explicit InFlightGate(int limit);

  // Blocks until one of the places is free, `end` is reached or `cancellation` is requested
  // (noticed within 25 ms). Who entered must leave.
  [[nodiscard]] Entry enter(std::chrono::steady_clock::time_point end,
                            const Cancellation& cancellation);
  void leave();
  // The most that were inside together so far.
  [[nodiscard]] int most() const;

 private:
  const int limit_;
  mutable std::mutex mutex_;
  std::condition_variable left_;
  int inside_ = 0;
  int most_ = 0;
};

}  // namespace regraph::llm
