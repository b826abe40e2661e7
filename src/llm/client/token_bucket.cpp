#include "llm/client/token_bucket.h"

#include <algorithm>

namespace regraph::llm {

TokenBucket::TokenBucket(double per_minute, double burst_seconds, Time now)
    : per_second_(std::max(per_minute, 0.0) / 60.0),
      capacity_(std::max(1.0, per_second_ * std::max(burst_seconds, 0.0))),
      level_(capacity_),
      filled_(now) {}

void TokenBucket::refill(Time now) {
  if (now <= filled_) return;
  level_ = std::min(capacity_,
                    level_ + per_second_ * std::chrono::duration<double>(now - filled_).count());
  filled_ = now;
}

double TokenBucket::take(double amount, Time now) {
  if (per_second_ <= 0.0) return 0.0;
  refill(now);
  // More than it ever holds: what is missing is paid in waiting afterwards, by whoever comes next.
  const double missing = std::min(amount, capacity_) - level_;
  level_ -= amount;
  return std::max(0.0, missing / per_second_);
}

void TokenBucket::give_back(double amount, Time now) {
  if (per_second_ <= 0.0) return;
  refill(now);
  level_ = std::min(capacity_, level_ + amount);
}

double TokenBucket::level(Time now) {
  refill(now);
  return level_;
}

}  // namespace regraph::llm
