// One call of ChatClient::complete: its attempts, its deadline and what they cost.
#pragma once

#include "llm/client/chat_client.h"
#include "llm/client/circuit_breaker.h"
#include "llm/client/decode_answer.h"
#include "llm/client/endpoint.h"
#include "llm/client/failure_judgement.h"
#include "llm/client/in_flight_gate.h"
#include "llm/client/transfer_engine.h"

#include <chrono>
#include <mutex>
#include <optional>
#include <set>

namespace regraph::llm {

// What the calls of a client have in common.
struct ClientShared {
  ClientShared(ChatClientOptions given, Endpoint where, std::unique_ptr<TransferEngine> transfers);

  const ChatClientOptions options;
  const Endpoint endpoint;
  const std::unique_ptr<TransferEngine> engine;
  InFlightGate gate;
  RateLimiter limiter;
  CircuitBreaker breaker;
  StatisticsCounter statistics;

  [[nodiscard]] ServerDialect dialect() const;
  // Adopts what one call learned.
  void learn(const ServerDialect& dialect);

 private:
  mutable std::mutex mutex_;
  ServerDialect dialect_;
};

// Lives on the caller's stack; not thread-safe.
class ChatCall {
 public:
  ChatCall(ClientShared& shared, const ChatRequest& request, const Cancellation& cancellation);
  [[nodiscard]] ChatResult run();

 private:
  using Clock = std::chrono::steady_clock;
  using Attempt = Result<DecodedAnswer, ChatError>;

  // Attempts until there is an answer to `wanted` or none will come.
  [[nodiscard]] Attempt ask(const ChatRequest& wanted, std::uint64_t part);
  // Waits for the limits, sends once and reads the reply. On failure `retry_` says what next.
  [[nodiscard]] Attempt attempt(const ChatRequest& wanted);
  // Takes a place among the requests in flight and its share of the limits per minute.
  [[nodiscard]] std::optional<ChatError> enter(std::int64_t tokens);
  // Why no request should be sent: cancelled, or known to fail.
  [[nodiscard]] std::optional<ChatError> useless() const;
  [[nodiscard]] Attempt read(const ChatRequest& wanted, HttpOutcome outcome);
  [[nodiscard]] Attempt read_error(const HttpOutcome& outcome, int status,
                                   const ServerError& error);
  // Notes a failed request and gives its error.
  [[nodiscard]] ChatError failed(const Judgement& judgement, const std::string& why,
                                 const TokenUsage& lost);
  [[nodiscard]] ChatError give_up(ChatFailure failure, const std::string& why) const;
  [[nodiscard]] bool adapt(int status, const ServerError& error);
  void finish(DecodedAnswer& answer, const ChatRequest& wanted) const;
  [[nodiscard]] double remaining() const;

  ClientShared& shared_;
  const ChatRequest& request_;
  const Cancellation& cancellation_;
  const Clock::time_point started_;
  const Clock::time_point end_;
  ServerDialect dialect_;
  std::set<RequestParameter> given_up_;
  RetryClass retry_ = RetryClass::never;
  std::optional<double> retry_after_;
  bool adapted_ = false;  // the last failure was an unknown parameter, now left out
  bool failed_before_ = false;
  int attempts_ = 0;
  TokenUsage lost_{.reported = true};
};

}  // namespace regraph::llm
