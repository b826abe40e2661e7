#include "fleet/fleet_chat.h"

#include "fleet/chat_job.h"

#include <chrono>
#include <utility>

namespace regraph::fleet {
namespace {

llm::ChatFailure failure_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::cancelled:
      return llm::ChatFailure::cancelled;
    case ErrorCode::resource:
    case ErrorCode::invalid_argument:
      return llm::ChatFailure::rejected;
    default:
      return llm::ChatFailure::unreachable;
  }
}

}  // namespace

llm::ChatResult FleetChat::complete(const llm::ChatRequest& request,
                                    const Cancellation& cancellation) {
  const std::string key = llm::request_key(request);
  const int sample = begin_sample(key);
  const auto start = std::chrono::steady_clock::now();
  const Job job = job_of({occasion_, sample, request});
  const auto said = queue_.ask(job, cancellation);
  if (!said) {
    const llm::ChatFailure failure = failure_of(said.error().code);
    if (failure == llm::ChatFailure::cancelled) {
      queue_.take_back(job);  // an answer would be paid for
      forget_sample(key, sample);
    }
    return llm::ChatError{failure, "the fleet: " + said.error().message, 0, {}};
  }
  auto reply = read_reply(*said);
  if (!reply) {
    return llm::ChatError{llm::ChatFailure::malformed,
                          "a worker of the fleet says something else: " + reply.error().message,
                          0,
                          {}};
  }
  if (!reply->result) {
    llm::ChatError error = std::move(reply->result).error();
    error.message = "worker " + reply->worker + ": " + error.message;
    return error;
  }
  llm::ChatAnswer answer = *std::move(reply->result);
  if (answer.choices.size() > static_cast<std::size_t>(request.choices)) {
    return llm::ChatError{llm::ChatFailure::malformed,
                          "worker " + reply->worker + " answers more than it was asked",
                          answer.attempts, answer.usage};
  }
  answer.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return answer;
}

int FleetChat::begin_sample(const std::string& key) {
  const std::lock_guard lock(mutex_);
  std::set<int>& taken = samples_[key];
  int sample = 0;
  while (taken.contains(sample))
    ++sample;
  taken.insert(sample);
  return sample;
}

void FleetChat::forget_sample(const std::string& key, int sample) {
  const std::lock_guard lock(mutex_);
  samples_[key].erase(sample);
}

}  // namespace regraph::fleet
