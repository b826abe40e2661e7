// Waiting that can be cancelled.
#pragma once

#include "base/cancellation.h"

#include <chrono>

namespace regraph::llm {

// How often a waiting thread looks whether it is still wanted.
inline constexpr std::chrono::milliseconds kCancellationPoll{25};

// Sleeps until `end`. Returns false as soon as `cancellation` is requested (within 25 ms).
[[nodiscard]] bool pause_until(std::chrono::steady_clock::time_point end,
                               const Cancellation& cancellation);

}  // namespace regraph::llm
