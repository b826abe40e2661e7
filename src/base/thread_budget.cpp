#include "base/thread_budget.h"

#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace regraph {

namespace {

// Indices handed out to the threads of one call.
class Loop {
 public:
  Loop(std::size_t count, const std::function<void(std::size_t)>& work)
      : count_(count), work_(work) {}

  // More than one is left: work for another thread.
  [[nodiscard]] bool divisible() const { return next_ + 1 < count_; }

  // Does the next one; false when there was none.
  bool step() {
    const std::size_t index = next_.fetch_add(1);
    if (index >= count_) return false;
    try {
      work_(index);
    } catch (...) {
      next_ = count_;
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
    }
    return true;
  }

  // Once no thread works any more.
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  const std::size_t count_;
  const std::function<void(std::size_t)>& work_;
  std::atomic<std::size_t> next_{0};
  std::mutex mutex_;
  std::exception_ptr failure_;  // guarded by mutex_
};

}  // namespace

bool ThreadBudget::spare() {
  int used = used_;
  while (used < most_) {
    if (used_.compare_exchange_weak(used, used + 1)) return true;
  }
  return false;
}

void ThreadBudget::for_each_index(std::size_t count, const std::function<void(std::size_t)>& work) {
  Loop loop(count, work);
  // Own threads rather than a pool's: one that waits for the others here must not be given work
  // that waits for what this call holds.
  std::vector<std::jthread> helpers;
  do {
    // Asked each time, since others end meanwhile; one index is left for this thread.
    while (helpers.size() + 1 < count && loop.divisible() && spare()) {
      auto share = std::make_shared<Share>(*this);
      try {
        helpers.emplace_back([this, share, &loop] {
          // Gives way to calls that began meanwhile.
          while (used_ <= most_ && loop.step()) {
          }
        });
      } catch (const std::system_error&) {
        break;  // the machine has none
      }
    }
  } while (loop.step());
  helpers.clear();
  loop.rethrow();
}

}  // namespace regraph
