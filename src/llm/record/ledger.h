// Tokens and money: what was spent, what is promised to requests under way, what is allowed.
#pragma once

#include "llm/chat/chat.h"
#include "llm/record/answer_store.h"
#include "llm/record/prefix_tracker.h"
#include "llm/record/price_table.h"
#include "llm/record/spending_log.h"

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

namespace regraph::llm {

inline constexpr int kChatFailureCount = static_cast<int>(ChatFailure::cancelled) + 1;

struct ChatBudget {
  std::int64_t tokens = 0;  // prompt and completion together; 0: no limit
  double dollars = 0.0;     // 0: no limit
  double seconds = 0.0;     // from the first request on; 0: no limit
};

// Sums of what was asked and answered.
struct ChatStatistics {
  int asked = 0;                                  // requests of the search
  int answered = 0;                               // with an answer, from wherever
  int from_store = 0;                             // of them without a request to a server
  int attempts = 0;                               // requests sent to the server, retries included
  int estimated = 0;                              // answers whose tokens the server did not count
  std::array<int, kChatFailureCount> failures{};  // by ChatFailure
  std::string first_failure;                      // in words
  TokenUsage usage;                               // of what was sent to the server
  std::int64_t prefix_tokens = 0;                 // of prompts, with which earlier ones began
  double dollars = 0.0;
  bool priced = false;   // the model's price is known
  bool spent = false;    // something was refused because the budget is used up
  double seconds = 0.0;  // of waiting for answers, all threads

  [[nodiscard]] std::int64_t tokens() const {
    return usage.prompt_tokens + usage.completion_tokens;
  }
};

// Passes requests on while the budget lasts, but those whose answer is in the store: they cost
// nothing. Before a request its largest possible cost is set aside, so that the budget is never
// exceeded by more than the server's own miscounting; afterwards what it really took is booked and
// the answer kept. A store that cannot be written to is no failure of the request. Thread-safe.
class BudgetedModel final : public ChatModel {
 public:
  // `inner`, `store` and `log`, which may both be null, must outlive this. What `log` says was
  // spent earlier is spent. Without a price, a budget of dollars has no effect: the caller must not
  // allow that.
  BudgetedModel(ChatModel& inner, AnswerStore* store, const ChatBudget& budget,
                std::optional<Price> price, SpendingLog* log = nullptr);

  [[nodiscard]] ChatResult complete(const ChatRequest& request,
                                    const Cancellation& cancellation) override;
  [[nodiscard]] ChatStatistics statistics() const;
  // The first thing that could not be written to the log.
  [[nodiscard]] Status status() const;

 private:
  // Error (over_budget) when the request might not fit into what is left.
  [[nodiscard]] std::optional<ChatError> set_aside(const TokenUsage& most);
  void book(const TokenUsage& most, double prefix_share, const ChatResult& result);

  ChatModel& inner_;
  AnswerStore* store_;
  const ChatBudget budget_;
  const std::optional<Price> price_;
  mutable std::mutex mutex_;
  ChatStatistics statistics_;
  SpendingLog* log_;
  Status status_;
  PrefixTracker prefixes_;
  std::int64_t promised_tokens_ = 0;
  double promised_dollars_ = 0.0;
  std::optional<double> first_request_;  // on the monotonic clock, seconds
};

// An upper estimate of the tokens a request takes: a token is seldom shorter than 3 bytes of source
// text, and an answer without a limit is taken to be kUnlimitedAnswerTokens long.
inline constexpr int kUnlimitedAnswerTokens = 8192;
[[nodiscard]] TokenUsage estimated_usage(const ChatRequest& request);

}  // namespace regraph::llm
