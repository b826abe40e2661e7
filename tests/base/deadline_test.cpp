#include "base/deadline.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace regraph::deadline_test {
namespace {

void wait_for(const Cancellation& cancellation) {
  while (!cancellation.requested())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST(Deadline, FiresWhenTimeIsUp) {
  const Cancellation never;
  const Deadline deadline(0.05, never);
  wait_for(deadline.cancellation());
  EXPECT_TRUE(deadline.expired());
}

TEST(Deadline, PassesTheOuterRequestOn) {
  Cancellation outer;
  const Deadline deadline(1e9, outer);
  EXPECT_FALSE(deadline.cancellation().requested());
  outer.request();
  wait_for(deadline.cancellation());
  EXPECT_FALSE(deadline.expired());
}

TEST(Deadline, WithoutALimitOnlyTheOuterRequestCounts) {
  for (const double seconds : {0.0, -1.0}) {
    Cancellation outer;
    const Deadline deadline(seconds, outer);
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    EXPECT_FALSE(deadline.cancellation().requested());
    outer.request();
    wait_for(deadline.cancellation());
    EXPECT_FALSE(deadline.expired());
  }
}

TEST(Deadline, EndsWithItsWork) {
  const Cancellation never;
  for (int i = 0; i < 200; ++i)
    const Deadline deadline(3600.0, never);  // must not wait an hour
}

}  // namespace
}  // namespace regraph::deadline_test
