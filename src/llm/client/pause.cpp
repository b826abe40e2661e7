#include "llm/client/pause.h"

#include <algorithm>
#include <thread>

namespace regraph::llm {

bool pause_until(std::chrono::steady_clock::time_point end, const Cancellation& cancellation) {
  while (!cancellation.requested()) {
    const auto now = std::chrono::steady_clock::now();
    if (now >= end) return true;
    std::this_thread::sleep_until(std::min(end, now + kCancellationPoll));
  }
  return false;
}

}  // namespace regraph::llm
