// Limits of requests and of tokens per minute.
#pragma once

#include "llm/client/token_bucket.h"

#include <cstdint>
#include <mutex>

namespace regraph::llm {

struct RateLimits {
  double requests_per_minute = 0.0;  // 0: no limit
  double tokens_per_minute = 0.0;    // prompt and completion together; 0: no limit
  double burst_seconds = 10.0;       // how much of a minute's allowance may be used at once
};

// Two token buckets. Tokens are taken by estimate and settled when they are known. Thread-safe.
class RateLimiter {
 public:
  using Time = TokenBucket::Time;

  RateLimiter(const RateLimits& limits, Time now);

  // Takes a request of about `tokens`. Returns when it may be sent.
  [[nodiscard]] Time take(std::int64_t tokens, Time now);
  // A request that was not sent after all.
  void give_back(std::int64_t tokens, Time now);
  // It used `used` tokens, where `estimated` were taken.
  void settle(std::int64_t estimated, std::int64_t used, Time now);

 private:
  std::mutex mutex_;
  TokenBucket requests_;
  TokenBucket tokens_;
};

}  // namespace regraph::llm
