#include "base/ordered_loop.h"

#include <atomic>
#include <mutex>
#include <vector>

namespace regraph {

void for_each_in_order(ThreadBudget& threads, std::size_t count,
                       const std::function<void(std::size_t)>& prepare,
                       const std::function<bool(std::size_t)>& finish) {
  std::mutex mutex;
  std::vector<bool> prepared(count);
  std::size_t next = 0;
  bool finishing = false;  // some thread does, and looks again for what is prepared meanwhile
  std::atomic<bool> ended{false};
  threads.for_each_index(count, [&](std::size_t index) {
    if (ended) return;
    prepare(index);
    std::unique_lock lock(mutex);
    prepared[index] = true;
    if (finishing) return;
    finishing = true;
    while (!ended && next < count && prepared[next]) {
      const std::size_t now = next++;
      lock.unlock();
      const bool goes_on = finish(now);
      lock.lock();
      if (!goes_on) ended = true;
    }
    finishing = false;
  });
}

}  // namespace regraph
