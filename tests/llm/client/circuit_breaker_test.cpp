#include "llm/client/circuit_breaker.h"

#include <gtest/gtest.h>

namespace regraph::llm::circuit_breaker_test {
namespace {

ChatError error(ChatFailure failure) {
  return {failure, "why", 3, {1, 0, 1, 0, true}};
}

TEST(CircuitBreaker, IsClosedForWhatPasses) {
  CircuitBreaker breaker;
  for (const ChatFailure failure :
       {ChatFailure::overloaded, ChatFailure::timed_out, ChatFailure::rejected,
        ChatFailure::malformed, ChatFailure::unreachable, ChatFailure::cancelled})
    breaker.note("m", error(failure));
  EXPECT_FALSE(breaker.open("m").has_value());
}

TEST(CircuitBreaker, OpensForOneModel) {
  CircuitBreaker breaker;
  breaker.note("m", error(ChatFailure::unknown_model));
  ASSERT_TRUE(breaker.open("m").has_value());
  EXPECT_EQ(breaker.open("m")->failure, ChatFailure::unknown_model);
  EXPECT_EQ(breaker.open("m")->message, "why");
  EXPECT_EQ(breaker.open("m")->attempts, 0);
  EXPECT_EQ(breaker.open("m")->usage, TokenUsage{});
  EXPECT_FALSE(breaker.open("other").has_value());
}

TEST(CircuitBreaker, OpensForAllModels) {
  CircuitBreaker breaker;
  breaker.note("m", error(ChatFailure::unauthorised));
  EXPECT_EQ(breaker.open("other")->failure, ChatFailure::unauthorised);
}

}  // namespace
}  // namespace regraph::llm::circuit_breaker_test
