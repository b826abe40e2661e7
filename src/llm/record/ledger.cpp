#include "llm/record/ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace regraph::llm {

namespace {

constexpr std::int64_t kBytesOfAToken = 3;
// Role, separators: what a chat template adds to a message.
constexpr std::int64_t kTokensOfAMessage = 8;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

TokenUsage estimated_usage(const ChatRequest& request) {
  TokenUsage usage;
  for (const ChatMessage& message : request.messages) {
    const auto bytes = static_cast<std::int64_t>(message.text.size());
    usage.prompt_tokens += (bytes + kBytesOfAToken - 1) / kBytesOfAToken + kTokensOfAMessage;
  }
  const int answer = request.max_tokens > 0 ? request.max_tokens : kUnlimitedAnswerTokens;
  usage.completion_tokens = std::int64_t{answer} * std::max(request.choices, 1);
  return usage;
}

BudgetedModel::BudgetedModel(ChatModel& inner, AnswerStore* store, const ChatBudget& budget,
                             std::optional<Price> price, SpendingLog* log)
    : inner_(inner), store_(store), budget_(budget), price_(price), log_(log) {
  statistics_.priced = price.has_value();
  statistics_.usage.reported = true;
  if (log == nullptr) return;
  const Spending& earlier = log->earlier();
  statistics_.usage += earlier.usage;
  statistics_.dollars = earlier.dollars;
}

std::optional<ChatError> BudgetedModel::set_aside(const TokenUsage& most) {
  const std::int64_t tokens = most.prompt_tokens + most.completion_tokens;
  const double dollars = price_ ? price_->cost(most) : 0.0;
  const std::lock_guard lock(mutex_);
  const double time = now();
  if (!first_request_) first_request_ = time;
  std::string what;
  if (budget_.tokens > 0 && statistics_.tokens() + promised_tokens_ + tokens > budget_.tokens) {
    what = fmt::format("{} of {} tokens are used and this request may take {}",
                       statistics_.tokens(), budget_.tokens, tokens);
  } else if (budget_.dollars > 0.0 &&
             statistics_.dollars + promised_dollars_ + dollars > budget_.dollars) {
    what = fmt::format("{:.4f} of {:.4f} dollars are spent and this request may cost {:.4f}",
                       statistics_.dollars, budget_.dollars, dollars);
  } else if (budget_.seconds > 0.0 && time - *first_request_ > budget_.seconds) {
    what = fmt::format("the {:g} seconds for the language model are over", budget_.seconds);
  }
  if (!what.empty()) {
    statistics_.spent = true;
    ++statistics_.failures[static_cast<std::size_t>(ChatFailure::over_budget)];
    if (statistics_.first_failure.empty()) statistics_.first_failure = what;
    return ChatError{ChatFailure::over_budget, what, 0, {}};
  }
  promised_tokens_ += tokens;
  promised_dollars_ += dollars;
  return std::nullopt;
}

void BudgetedModel::book(const TokenUsage& most, double prefix_share, const ChatResult& result) {
  const std::lock_guard lock(mutex_);
  promised_tokens_ -= most.prompt_tokens + most.completion_tokens;
  promised_dollars_ -= price_ ? price_->cost(most) : 0.0;
  TokenUsage used;
  if (result) {
    const ChatAnswer& answer = *result;
    ++statistics_.answered;
    statistics_.attempts += answer.attempts;
    statistics_.seconds += answer.seconds;
    used = answer.usage;
    if (!used.reported) ++statistics_.estimated;
  } else {
    const ChatError& error = result.error();
    ++statistics_.failures[static_cast<std::size_t>(error.failure)];
    if (statistics_.first_failure.empty()) statistics_.first_failure = error.message;
    statistics_.attempts += error.attempts;
    used = error.usage;
  }
  statistics_.usage += used;
  statistics_.prefix_tokens += std::llround(prefix_share * static_cast<double>(used.prompt_tokens));
  const double dollars = price_ ? price_->cost(used) : 0.0;
  statistics_.dollars += dollars;
  const bool paid = used.prompt_tokens + used.completion_tokens > 0;
  if (log_ == nullptr || !paid) return;
  if (Status kept = log_->add(used, dollars); !kept && status_) status_ = kept;
}

ChatResult BudgetedModel::complete(const ChatRequest& request, const Cancellation& cancellation) {
  const std::string key = request_key(request);
  std::optional<ChatAnswer> known = store_ != nullptr ? store_->find(key) : std::nullopt;
  {
    const std::lock_guard lock(mutex_);
    ++statistics_.asked;
    if (known) {
      ++statistics_.answered;
      ++statistics_.from_store;
    }
  }
  if (known) return std::move(*known);
  const TokenUsage most = estimated_usage(request);
  if (auto refused = set_aside(most)) return std::move(*refused);
  double prefix_share = 0.0;
  {
    const std::lock_guard lock(mutex_);
    prefix_share = prefixes_.share(request);
  }
  ChatResult result = inner_.complete(request, cancellation);
  book(most, prefix_share, result);
  if (result && store_ != nullptr) (void)store_->put(key, *result);
  return result;
}

Status BudgetedModel::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

ChatStatistics BudgetedModel::statistics() const {
  const std::lock_guard lock(mutex_);
  return statistics_;
}

}  // namespace regraph::llm
