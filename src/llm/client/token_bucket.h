// A limit on how much may be used per minute.
#pragma once

#include <chrono>

namespace regraph::llm {

// Fills at a constant rate up to a burst. What is taken beyond its content is a debt that later
// takers wait for: so they get their turn in the order of asking, and large ones do not starve.
// Time is an argument; not thread-safe.
class TokenBucket {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // `per_minute` 0 or less: no limit. Full at first; holds what comes in in `burst_seconds`, at
  // least one.
  TokenBucket(double per_minute, double burst_seconds, Time now);

  // Takes `amount` and returns the seconds from `now` after which it may be used.
  [[nodiscard]] double take(double amount, Time now);
  // Gives back what was taken and not used; a negative amount is what was used beyond it.
  void give_back(double amount, Time now);
  // What is there now; negative is a debt.
  [[nodiscard]] double level(Time now);

 private:
  void refill(Time now);

  double per_second_;
  double capacity_;
  double level_;
  Time filled_;
};

}  // namespace regraph::llm
