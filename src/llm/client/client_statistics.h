// What a ChatClient has done so far.
#pragma once

#include "llm/chat/chat.h"

#include <array>
#include <cstdint>
#include <mutex>

namespace regraph::llm {

inline constexpr std::size_t kChatFailures = static_cast<std::size_t>(ChatFailure::cancelled) + 1;

// A snapshot; all its numbers are of the same moment.
struct ClientStatistics {
  std::int64_t calls = 0;     // that have ended
  std::int64_t answers = 0;   // of these, with an answer
  std::int64_t requests = 0;  // sent
  std::int64_t retries = 0;   // of these, sent because an earlier one failed
  std::array<std::int64_t, kChatFailures> failed_calls{};     // by ChatFailure
  std::array<std::int64_t, kChatFailures> failed_requests{};  // likewise; retried or not
  TokenUsage tokens{.reported = true};       // of answers; `reported`: all of them were
  TokenUsage lost_tokens{.reported = true};  // paid for, but without a usable answer
  double seconds = 0.0;                      // that requests took, all together
  int most_in_flight = 0;

  [[nodiscard]] std::int64_t failed_calls_by(ChatFailure failure) const {
    return failed_calls[static_cast<std::size_t>(failure)];
  }
  [[nodiscard]] std::int64_t failed_requests_by(ChatFailure failure) const {
    return failed_requests[static_cast<std::size_t>(failure)];
  }
};

// Counts. Thread-safe.
class StatisticsCounter {
 public:
  void count_request(bool is_retry, double seconds);
  void count_failed_request(ChatFailure failure, const TokenUsage& lost);
  void count_answered_request(const TokenUsage& usage);
  void count_call(const ChatResult& result);
  // Everything but most_in_flight.
  [[nodiscard]] ClientStatistics snapshot() const;

 private:
  mutable std::mutex mutex_;
  ClientStatistics statistics_;
};

}  // namespace regraph::llm
