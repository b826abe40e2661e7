// What libnats' callbacks are about, found by number.
//
// libnats calls back from threads of its own, also for a moment after a subscription or connection
// was given up. A number that is no longer in the table is nothing; a pointer would dangle.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace regraph::fleet {

// Thread-safe.
template <typename Target>
class CallbackTable {
 public:
  [[nodiscard]] std::uintptr_t add(std::shared_ptr<Target> target) {
    const std::lock_guard lock(mutex_);
    targets_.emplace(++last_, std::move(target));
    return last_;
  }

  // Null where it was removed.
  [[nodiscard]] std::shared_ptr<Target> find(void* closure) const {
    const std::lock_guard lock(mutex_);
    const auto found = targets_.find(reinterpret_cast<std::uintptr_t>(closure));
    return found == targets_.end() ? nullptr : found->second;
  }

  void remove(std::uintptr_t number) {
    std::shared_ptr<Target> removed;  // dies when the lock is gone
    const std::lock_guard lock(mutex_);
    const auto found = targets_.find(number);
    if (found == targets_.end()) return;
    removed = std::move(found->second);
    targets_.erase(found);
  }

  // What callbacks are given.
  [[nodiscard]] static void* closure(std::uintptr_t number) {
    return reinterpret_cast<void*>(number);  // NOLINT(performance-no-int-to-ptr): never followed
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::uintptr_t, std::shared_ptr<Target>> targets_;
  std::uintptr_t last_ = 0;
};

}  // namespace regraph::fleet
