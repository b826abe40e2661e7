// One place of a worker that asks a language model: one question after the other.
#pragma once

#include "base/cancellation.h"
#include "fleet/chat_job.h"
#include "fleet_worker/model_worker.h"
#include "fleet_worker/places.h"

#include <chrono>
#include <mutex>
#include <string>

namespace regraph::fleet {

// When a server that fails is asked again, by all places of a worker. Thread-safe.
class ServerRest {
 public:
  ServerRest(double first_seconds, double longest_seconds)
      : first_seconds_(first_seconds), longest_seconds_(longest_seconds) {}

  // `lasting`: it will hardly be better soon. Failures of questions sent before the last one was
  // known are one failure with it.
  void failed(bool lasting);
  void worked();
  // Waits until the server may be asked, or `leave` is requested.
  void wait(const Cancellation& leave) const;

 private:
  using Clock = std::chrono::steady_clock;

  const double first_seconds_;
  const double longest_seconds_;
  mutable std::mutex mutex_;
  double next_seconds_ = 0.0;
  Clock::time_point until_;
};

// For one thread.
class ModelPlace {
 public:
  // All must outlive this. `stop` ends questions under way, which are given back.
  ModelPlace(Broker& broker, llm::ChatModel& model, const ModelWorkerOptions& options,
             WorkerTally& tally, ServerRest& rest, const Cancellation& leave,
             const Cancellation& stop)
      : broker_(broker),
        model_(model),
        options_(options),
        tally_(tally),
        rest_(rest),
        leave_(leave),
        stop_(stop) {}

  // Works until `leave` is requested.
  void run();

 private:
  void work(Lease& lease);
  [[nodiscard]] llm::ChatResult ask(Lease& lease, const llm::ChatRequest& request);
  // Answers, whoever comes first.
  void answer(Lease& lease, llm::ChatResult result);

  Broker& broker_;
  llm::ChatModel& model_;
  const ModelWorkerOptions& options_;
  WorkerTally& tally_;
  ServerRest& rest_;
  const Cancellation& leave_;
  const Cancellation& stop_;
};

}  // namespace regraph::fleet
