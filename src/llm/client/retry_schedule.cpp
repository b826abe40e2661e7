#include "llm/client/retry_schedule.h"

#include "base/random.h"

#include <algorithm>
#include <cmath>

namespace regraph::llm {

RetrySchedule::RetrySchedule(const RetryOptions& options, std::uint64_t call)
    : options_(options), call_(call) {}

std::optional<double> RetrySchedule::next(RetryClass kind, std::optional<double> retry_after,
                                          double remaining) {
  ++failures_;
  if (kind == RetryClass::never || failures_ >= options_.attempts) return std::nullopt;
  if (kind == RetryClass::once && ++once_ > 1) return std::nullopt;
  if (kind == RetryClass::malformed && ++malformed_ > options_.malformed_retries)
    return std::nullopt;
  const double longest = std::min(options_.longest_delay,
                                  std::ldexp(options_.first_delay, std::min(failures_ - 1, 60)));
  const double jitter =
      to_unit_interval(random_bits(options_.seed, call_, static_cast<std::uint64_t>(failures_)));
  double wait = jitter * std::max(longest, 0.0);
  if (retry_after) wait += std::clamp(*retry_after, 0.0, options_.longest_retry_after);
  if (wait >= remaining) return std::nullopt;
  return wait;
}

}  // namespace regraph::llm
