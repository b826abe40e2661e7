#include "llm/client/retry_schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace regraph::llm::retry_schedule_test {
namespace {

constexpr double kLong = 1e6;

TEST(RetrySchedule, GivesUpAfterTheLastAttempt) {
  RetryOptions options;
  options.attempts = 4;
  RetrySchedule schedule(options, 1);
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(schedule.next(RetryClass::transient, {}, kLong).has_value());
  EXPECT_FALSE(schedule.next(RetryClass::transient, {}, kLong).has_value());
}

TEST(RetrySchedule, KnowsWhatIsNotWorthIt) {
  const RetryOptions options;
  RetrySchedule never(options, 1);
  EXPECT_FALSE(never.next(RetryClass::never, {}, kLong).has_value());
  RetrySchedule once(options, 1);
  EXPECT_TRUE(once.next(RetryClass::once, {}, kLong).has_value());
  EXPECT_FALSE(once.next(RetryClass::once, {}, kLong).has_value());
  RetrySchedule malformed(options, 1);
  EXPECT_TRUE(malformed.next(RetryClass::malformed, {}, kLong).has_value());
  EXPECT_TRUE(malformed.next(RetryClass::malformed, {}, kLong).has_value());
  EXPECT_FALSE(malformed.next(RetryClass::malformed, {}, kLong).has_value());
}

TEST(RetrySchedule, JitterFillsAWindowThatDoubles) {
  RetryOptions options;
  options.attempts = 6;
  options.first_delay = 1.0;
  options.longest_delay = 5.0;
  const std::vector<double> windows = {1.0, 2.0, 4.0, 5.0, 5.0};
  std::vector<double> sums(windows.size());
  constexpr int kCalls = 2000;
  for (int call = 0; call < kCalls; ++call) {
    RetrySchedule schedule(options, static_cast<std::uint64_t>(call));
    for (std::size_t k = 0; k < windows.size(); ++k) {
      const auto wait = schedule.next(RetryClass::transient, {}, kLong);
      ASSERT_TRUE(wait.has_value());
      ASSERT_GE(*wait, 0.0);
      ASSERT_LT(*wait, windows[k]);
      sums[k] += *wait;
    }
  }
  // Full jitter: uniform, so the mean is half the window (to 5 standard errors).
  for (std::size_t k = 0; k < windows.size(); ++k)
    EXPECT_NEAR(sums[k] / kCalls, windows[k] / 2, 5 * windows[k] * 0.2887 / 44.7);
}

TEST(RetrySchedule, IsAFunctionOfSeedAndCall) {
  const auto waits = [](std::uint64_t seed, std::uint64_t call) {
    RetryOptions options;
    options.seed = seed;
    RetrySchedule schedule(options, call);
    std::vector<double> result;
    for (int i = 0; i < 4; ++i)
      result.push_back(*schedule.next(RetryClass::transient, {}, kLong));
    return result;
  };
  EXPECT_EQ(waits(1, 2), waits(1, 2));
  EXPECT_NE(waits(1, 2), waits(2, 2));
  EXPECT_NE(waits(1, 2), waits(1, 3));
}

TEST(RetrySchedule, WaitsAsLongAsTheServerAsksUpToALimit) {
  RetryOptions options;
  options.first_delay = 0.5;
  options.longest_retry_after = 20.0;
  RetrySchedule schedule(options, 1);
  const auto asked = schedule.next(RetryClass::transient, 7.0, kLong);
  ASSERT_TRUE(asked.has_value());
  EXPECT_GE(*asked, 7.0);
  EXPECT_LT(*asked, 7.5);
  const auto capped = schedule.next(RetryClass::transient, 3600.0, kLong);
  ASSERT_TRUE(capped.has_value());
  EXPECT_GE(*capped, 20.0);
  EXPECT_LT(*capped, 21.0);
}

TEST(RetrySchedule, DoesNotWaitBeyondTheDeadline) {
  RetrySchedule schedule({}, 1);
  EXPECT_FALSE(schedule.next(RetryClass::transient, 10.0, 9.0).has_value());
  EXPECT_FALSE(RetrySchedule({}, 1).next(RetryClass::transient, {}, 0.0).has_value());
}

}  // namespace
}  // namespace regraph::llm::retry_schedule_test
