#include "llm/client/client_statistics.h"

#include <gtest/gtest.h>

namespace regraph::llm::client_statistics_test {
namespace {

TEST(ClientStatistics, CountsByKind) {
  StatisticsCounter counter;
  counter.count_request(false, 1.5);
  counter.count_failed_request(ChatFailure::malformed,
                               {.prompt_tokens = 3, .completion_tokens = 4});
  counter.count_request(true, 0.5);
  counter.count_answered_request({10, 2, 5, 1, true});
  counter.count_call(ChatAnswer{});
  counter.count_request(false, 0.25);
  counter.count_failed_request(ChatFailure::timed_out, {});
  ChatError error;
  error.failure = ChatFailure::timed_out;
  counter.count_call(error);
  const ClientStatistics seen = counter.snapshot();
  EXPECT_EQ(seen.calls, 2);
  EXPECT_EQ(seen.answers, 1);
  EXPECT_EQ(seen.requests, 3);
  EXPECT_EQ(seen.retries, 1);
  EXPECT_EQ(seen.failed_requests_by(ChatFailure::malformed), 1);
  EXPECT_EQ(seen.failed_requests_by(ChatFailure::timed_out), 1);
  EXPECT_EQ(seen.failed_calls_by(ChatFailure::timed_out), 1);
  EXPECT_EQ(seen.failed_calls_by(ChatFailure::malformed), 0);
  EXPECT_EQ(seen.tokens, (TokenUsage{10, 2, 5, 1, true}));
  EXPECT_EQ(seen.lost_tokens, (TokenUsage{3, 0, 4, 0, false}));
  EXPECT_EQ(seen.seconds, 2.25);
}

}  // namespace
}  // namespace regraph::llm::client_statistics_test
