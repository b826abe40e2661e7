#include "llm/client/rate_limiter.h"

#include <gtest/gtest.h>

namespace regraph::llm::rate_limiter_test {
namespace {

using Time = RateLimiter::Time;

double seconds(Time time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

RateLimits limits(double requests, double tokens) {
  RateLimits result;
  result.requests_per_minute = requests;
  result.tokens_per_minute = tokens;
  result.burst_seconds = 1.0;
  return result;
}

TEST(RateLimiter, TheTighterLimitDecides) {
  RateLimiter by_requests(limits(60.0, 6000.0), Time{});
  EXPECT_EQ(seconds(by_requests.take(1, Time{})), 0.0);
  EXPECT_NEAR(seconds(by_requests.take(1, Time{})), 1.0, 1e-6);
  RateLimiter by_tokens(limits(6000.0, 600.0), Time{});
  EXPECT_EQ(seconds(by_tokens.take(10, Time{})), 0.0);
  EXPECT_NEAR(seconds(by_tokens.take(10, Time{})), 1.0, 1e-6);
}

TEST(RateLimiter, SettlesEstimates) {
  RateLimiter limiter(limits(0.0, 600.0), Time{});
  (void)limiter.take(10, Time{});
  limiter.settle(10, 4, Time{});
  EXPECT_EQ(seconds(limiter.take(6, Time{})), 0.0);
  limiter.settle(6, 26, Time{});  // more than thought: the next one pays
  EXPECT_NEAR(seconds(limiter.take(10, Time{})), 3.0, 1e-6);
}

TEST(RateLimiter, WhatWasNotSentCostsNothing) {
  RateLimiter limiter(limits(60.0, 600.0), Time{});
  (void)limiter.take(10, Time{});
  limiter.give_back(10, Time{});
  EXPECT_EQ(seconds(limiter.take(10, Time{})), 0.0);
}

}  // namespace
}  // namespace regraph::llm::rate_limiter_test
