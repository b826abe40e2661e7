// A language model that the workers of a fleet ask.
//
//   complete ──> job ──> JobQueue::ask ──> reply ──> answer or failure
#pragma once

#include "base/cancellation.h"
#include "fleet/queue/job_queue.h"
#include "llm/chat/chat.h"

#include <map>
#include <mutex>
#include <set>
#include <string>

namespace regraph::fleet {

// Waits for a worker for as long as it takes; how long a question may take from then on is the
// worker's to say. A question that was given up here is asked all the same, and its answer found
// where the same is asked again. Thread-safe.
class FleetChat final : public llm::ChatModel {
 public:
  // `queue` must outlive this; `occasion` as in ChatJob.
  FleetChat(JobQueue& queue, std::string occasion)
      : queue_(queue), occasion_(std::move(occasion)) {}

  // The n-th of equal requests is the same job whenever the occasion is; one that was cancelled
  // does not count. What a worker failed with is what this fails with, and its message names the
  // worker. Further failures: rejected (too large to travel), malformed (a worker says something
  // else), unreachable (no connection any more), cancelled.
  [[nodiscard]] llm::ChatResult complete(const llm::ChatRequest& request,
                                         const Cancellation& cancellation) override;

 private:
  [[nodiscard]] int begin_sample(const std::string& key);
  void forget_sample(const std::string& key, int sample);

  JobQueue& queue_;
  const std::string occasion_;
  std::mutex mutex_;
  std::map<std::string, std::set<int>> samples_;  // by request_key: taken, under way or answered
};

}  // namespace regraph::fleet
