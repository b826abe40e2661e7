// Whether and when a request that failed is sent again.
#pragma once

#include <cstdint>
#include <optional>

namespace regraph::llm {

// What kind of failure it was, as far as trying again is concerned.
enum class RetryClass : std::uint8_t {
  never,      // the same request would fail again
  once,       // probably lasting, but known to pass: name resolution, a TLS handshake
  malformed,  // the answer could not be used: paid for, so few more
  transient,  // overloaded, refused, reset, timed out
};

struct RetryOptions {
  int attempts = 6;                    // requests for one answer, the first included
  int malformed_retries = 2;           // of these, after answers that could not be used
  double first_delay = 0.5;            // seconds; doubles with each failure
  double longest_delay = 30.0;         // seconds
  double longest_retry_after = 120.0;  // seconds; servers that ask for more get this
  std::uint64_t seed = 0;              // of the jitter
};

// Exponential back-off with full jitter (M. Brooker, "Exponential Backoff And Jitter", AWS 2015):
// before attempt k + 1 uniformly between 0 and min(longest_delay, first_delay * 2^(k-1)). A pure
// function of the options, `call` and what happened; not thread-safe.
class RetrySchedule {
 public:
  // `call` tells calls apart, so that they do not come back all at once.
  RetrySchedule(const RetryOptions& options, std::uint64_t call);

  // Counts a failure. Returns the seconds to wait before the next attempt, or nothing to give up:
  // no attempt is left, or the wait would not be over `remaining` seconds from now. Retry-After is
  // waited for in full (up to the limit), with the jitter on top.
  [[nodiscard]] std::optional<double> next(RetryClass kind, std::optional<double> retry_after,
                                           double remaining);

 private:
  RetryOptions options_;
  std::uint64_t call_;
  int failures_ = 0;
  int malformed_ = 0;
  int once_ = 0;
};

}  // namespace regraph::llm
