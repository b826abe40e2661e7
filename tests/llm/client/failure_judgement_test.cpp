#include "llm/client/failure_judgement.h"

#include <gtest/gtest.h>

namespace regraph::llm::failure_judgement_test {
namespace {

Judgement status(int number, const char* code = "", const char* message = "") {
  ServerError error;
  error.code = code;
  error.message = message;
  return judge_status(number, error);
}

TEST(FailureJudgement, OfStatuses) {
  using F = ChatFailure;
  using R = RetryClass;
  EXPECT_EQ(status(400), (Judgement{F::rejected, R::never}));
  EXPECT_EQ(status(401), (Judgement{F::unauthorised, R::never}));
  EXPECT_EQ(status(402), (Judgement{F::unauthorised, R::never}));
  EXPECT_EQ(status(403), (Judgement{F::unauthorised, R::never}));
  EXPECT_EQ(status(404), (Judgement{F::unknown_model, R::never}));
  EXPECT_EQ(status(405), (Judgement{F::rejected, R::never}));
  EXPECT_EQ(status(407), (Judgement{F::unreachable, R::never}));
  EXPECT_EQ(status(408), (Judgement{F::timed_out, R::transient}));
  EXPECT_EQ(status(413), (Judgement{F::rejected, R::never}));
  EXPECT_EQ(status(422), (Judgement{F::rejected, R::never}));
  EXPECT_EQ(status(429), (Judgement{F::overloaded, R::transient}));
  for (const int number : {500, 502, 503, 504, 529, 599})
    EXPECT_EQ(status(number), (Judgement{F::overloaded, R::transient})) << number;
  for (const int number : {301, 302, 307, 308})
    EXPECT_EQ(status(number), (Judgement{F::unreachable, R::never})) << number;
  EXPECT_EQ(status(0), (Judgement{F::overloaded, R::transient}));
}

TEST(FailureJudgement, LooksAtWhatTheServerSays) {
  EXPECT_EQ(status(400, "model_not_found").failure, ChatFailure::unknown_model);
  EXPECT_EQ(status(429, "insufficient_quota"),
            (Judgement{ChatFailure::unauthorised, RetryClass::never}));
  EXPECT_EQ(status(429, "rate_limit_exceeded").retry, RetryClass::transient);
}

TEST(FailureJudgement, OfTransfers) {
  using F = ChatFailure;
  using R = RetryClass;
  EXPECT_EQ(judge_fault(TransferFault::connect), (Judgement{F::unreachable, R::transient}));
  EXPECT_EQ(judge_fault(TransferFault::reset), (Judgement{F::unreachable, R::transient}));
  EXPECT_EQ(judge_fault(TransferFault::resolve), (Judgement{F::unreachable, R::once}));
  EXPECT_EQ(judge_fault(TransferFault::certificate), (Judgement{F::unreachable, R::never}));
  EXPECT_EQ(judge_fault(TransferFault::timed_out), (Judgement{F::timed_out, R::transient}));
  EXPECT_EQ(judge_fault(TransferFault::slow), (Judgement{F::timed_out, R::transient}));
  EXPECT_EQ(judge_fault(TransferFault::cut), (Judgement{F::malformed, R::malformed}));
  EXPECT_EQ(judge_fault(TransferFault::too_long), (Judgement{F::malformed, R::once}));
  EXPECT_EQ(judge_fault(TransferFault::cancelled), (Judgement{F::cancelled, R::never}));
}

}  // namespace
}  // namespace regraph::llm::failure_judgement_test
