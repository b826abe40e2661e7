#include "llm/client/circuit_breaker.h"

namespace regraph::llm {

void CircuitBreaker::note(const std::string& model, const ChatError& error) {
  const ChatError kept{error.failure, error.message, 0, {}};
  const std::lock_guard lock(mutex_);
  if (error.failure == ChatFailure::unauthorised && !all_) all_ = kept;
  if (error.failure == ChatFailure::unknown_model) models_.emplace(model, kept);
}

std::optional<ChatError> CircuitBreaker::open(const std::string& model) const {
  const std::lock_guard lock(mutex_);
  if (all_) return all_;
  const auto found = models_.find(model);
  if (found == models_.end()) return std::nullopt;
  return found->second;
}

}  // namespace regraph::llm
