// A Cancellation that also fires when time is up: for work that can be stopped but has no clock.
#pragma once

#include "base/cancellation.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace regraph {

// Lives as long as the work does; a thread of its own watches the time and `outer`.
class Deadline {
 public:
  // `seconds` from now; 0 or less: no limit of time. `outer` must outlive the deadline; asking it
  // to stop is passed on within a few hundredths of a second.
  Deadline(double seconds, const Cancellation& outer);
  ~Deadline();
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  // To hand to the work.
  [[nodiscard]] const Cancellation& cancellation() const { return inner_; }
  // Whether it was time that stopped the work, and not `outer`.
  [[nodiscard]] bool expired() const { return expired_.load(); }

 private:
  void watch(double seconds);

  const Cancellation& outer_;
  Cancellation inner_;
  std::atomic<bool> expired_{false};
  std::mutex mutex_;
  std::condition_variable ended_;
  bool over_ = false;
  std::thread watcher_;
};

}  // namespace regraph
