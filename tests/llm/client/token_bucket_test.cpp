#include "llm/client/token_bucket.h"

#include <gtest/gtest.h>

namespace regraph::llm::token_bucket_test {
namespace {

using Time = TokenBucket::Time;

Time at(double seconds) {
  return Time{} +
         std::chrono::duration_cast<Time::duration>(std::chrono::duration<double>(seconds));
}

TEST(TokenBucket, WithoutALimitNothingWaits) {
  TokenBucket bucket(0.0, 10.0, at(0));
  EXPECT_EQ(bucket.take(1e9, at(0)), 0.0);
  EXPECT_EQ(bucket.take(1e9, at(0)), 0.0);
}

TEST(TokenBucket, LetsABurstThroughAndThenTheRate) {
  TokenBucket bucket(60.0, 10.0, at(0));  // one a second, ten at once
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(bucket.take(1.0, at(0)), 0.0);
  for (int i = 1; i <= 5; ++i)
    EXPECT_NEAR(bucket.take(1.0, at(0)), i, 1e-9);
  EXPECT_NEAR(bucket.level(at(5)), 0.0, 1e-9);
  EXPECT_NEAR(bucket.level(at(1000)), 10.0, 1e-9);
}

TEST(TokenBucket, NeverLetsMoreThroughThanBurstAndRate) {
  TokenBucket bucket(600.0, 3.0, at(0));
  double allowed_until_60 = 0.0;
  double now = 0.0;
  for (int i = 0; i < 2000; ++i) {
    const double amount = 1.0 + i % 7;
    now += bucket.take(amount, at(now));
    if (now <= 60.0) allowed_until_60 += amount;
  }
  EXPECT_LE(allowed_until_60, 600.0 + 30.0 + 1e-6);
  EXPECT_GE(allowed_until_60, 600.0);
}

TEST(TokenBucket, ALargeTakerGetsItsTurnAndOthersPay) {
  TokenBucket bucket(60.0, 10.0, at(0));
  EXPECT_EQ(bucket.take(100.0, at(0)), 0.0);  // more than it holds, but it is full
  EXPECT_NEAR(bucket.take(1.0, at(0)), 91.0, 1e-9);
}

TEST(TokenBucket, WhatIsGivenBackIsThereAgain) {
  TokenBucket bucket(60.0, 10.0, at(0));
  (void)bucket.take(10.0, at(0));
  bucket.give_back(4.0, at(0));
  EXPECT_NEAR(bucket.level(at(0)), 4.0, 1e-9);
  bucket.give_back(100.0, at(0));
  EXPECT_NEAR(bucket.level(at(0)), 10.0, 1e-9);
  bucket.give_back(-15.0, at(0));
  EXPECT_NEAR(bucket.take(1.0, at(0)), 6.0, 1e-9);
}

TEST(TokenBucket, TimeThatRunsBackwardsAddsNothing) {
  TokenBucket bucket(60.0, 10.0, at(100));
  (void)bucket.take(10.0, at(100));
  EXPECT_NEAR(bucket.level(at(50)), 0.0, 1e-9);
  EXPECT_NEAR(bucket.level(at(101)), 1.0, 1e-9);
}

}  // namespace
}  // namespace regraph::llm::token_bucket_test
