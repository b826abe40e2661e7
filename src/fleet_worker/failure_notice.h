// Tries at a job that came to nothing, as all workers keep count of them.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace regraph::fleet {

struct FailureNotice {
  std::string lane;
  std::vector<std::string> tries;  // "WORKER: what happened", the last kMostTries
  bool given_up = false;           // it was answered with a verdict, for want of a better one
};

// A job is tried so often where its process dies, hangs or cannot begin.
inline constexpr int kMostTries = 3;
// And handed out so often where workers go away without a word: people stop workers, too, and
// machines fail, which is not the job's fault.
inline constexpr int kMostDeliveries = 8;

[[nodiscard]] std::string failure_text(const FailureNotice& failure);
// Errors: parse, resource.
[[nodiscard]] Result<FailureNotice> read_failure(std::string_view text);

}  // namespace regraph::fleet
