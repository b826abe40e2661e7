// Cooperative cancellation: set once from any thread (or a signal handler), polled by workers.
#pragma once

#include <atomic>

namespace regraph {

class Cancellation {
 public:
  // Asks all holders to stop soon. Async-signal-safe.
  void request() { requested_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool requested() const { return requested_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> requested_{false};
  static_assert(std::atomic<bool>::is_always_lock_free);
};

}  // namespace regraph
