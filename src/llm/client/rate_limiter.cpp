#include "llm/client/rate_limiter.h"

#include <algorithm>

namespace regraph::llm {

RateLimiter::RateLimiter(const RateLimits& limits, Time now)
    : requests_(limits.requests_per_minute, limits.burst_seconds, now),
      tokens_(limits.tokens_per_minute, limits.burst_seconds, now) {}

RateLimiter::Time RateLimiter::take(std::int64_t tokens, Time now) {
  const std::lock_guard lock(mutex_);
  const double wait =
      std::max(requests_.take(1.0, now), tokens_.take(static_cast<double>(tokens), now));
  return now + std::chrono::duration_cast<Time::duration>(std::chrono::duration<double>(wait));
}

void RateLimiter::give_back(std::int64_t tokens, Time now) {
  const std::lock_guard lock(mutex_);
  requests_.give_back(1.0, now);
  tokens_.give_back(static_cast<double>(tokens), now);
}

void RateLimiter::settle(std::int64_t estimated, std::int64_t used, Time now) {
  const std::lock_guard lock(mutex_);
  tokens_.give_back(static_cast<double>(estimated - used), now);
}

}  // namespace regraph::llm
