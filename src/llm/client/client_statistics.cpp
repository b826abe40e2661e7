#include "llm/client/client_statistics.h"

namespace regraph::llm {
namespace {

bool is_zero(const TokenUsage& usage) {
  return usage.prompt_tokens == 0 && usage.completion_tokens == 0;
}

}  // namespace

void StatisticsCounter::count_request(bool is_retry, double seconds) {
  const std::lock_guard lock(mutex_);
  ++statistics_.requests;
  if (is_retry) ++statistics_.retries;
  statistics_.seconds += seconds;
}

void StatisticsCounter::count_failed_request(ChatFailure failure, const TokenUsage& lost) {
  const std::lock_guard lock(mutex_);
  ++statistics_.failed_requests[static_cast<std::size_t>(failure)];
  if (!is_zero(lost)) statistics_.lost_tokens += lost;
}

void StatisticsCounter::count_answered_request(const TokenUsage& usage) {
  const std::lock_guard lock(mutex_);
  statistics_.tokens += usage;
}

void StatisticsCounter::count_call(const ChatResult& result) {
  const std::lock_guard lock(mutex_);
  ++statistics_.calls;
  if (result.ok()) {
    ++statistics_.answers;
  } else {
    ++statistics_.failed_calls[static_cast<std::size_t>(result.error().failure)];
  }
}

ClientStatistics StatisticsCounter::snapshot() const {
  const std::lock_guard lock(mutex_);
  return statistics_;
}

}  // namespace regraph::llm
