// Asks a language model for those who cannot: takes questions, asks the model's server, answers.
// What is asked and answered is text: nothing of it is compiled or run here.
#pragma once

#include "base/cancellation.h"
#include "fleet/presence.h"
#include "fleet/queue/broker.h"
#include "fleet_worker/places.h"
#include "llm/chat/chat.h"

#include <string>

namespace regraph::fleet {

struct ModelWorkerOptions {
  WorkerPresence self;          // what does not change: name, host, version, lanes, places
  std::string model;            // asked for; questions for others are refused
  double leave_seconds = 30.0;  // that questions under way get once the worker is to go
  // After a failure that is the server's or the key's this worker takes nothing for so long, so
  // that others may: it doubles with each, up to the longest, which follows a key that is refused.
  double first_pause_seconds = 2.0;
  double longest_pause_seconds = 60.0;
  WorkerReport report;
};

// A failure of the question (refused, too long, an answer that cannot be read) is its answer.
// Others are tried three times in all, by whatever worker; the last one is the answer. Keeps
// nothing.
class ModelWorker {
 public:
  // Both must outlive this. `model` holds the key, if there is one; it is never passed on.
  ModelWorker(Broker& broker, llm::ChatModel& model, ModelWorkerOptions options)
      : broker_(broker), model_(model), options_(std::move(options)) {}

  // As FleetWorker::run. Call once.
  void run(const Cancellation& leave);

 private:
  Broker& broker_;
  llm::ChatModel& model_;
  const ModelWorkerOptions options_;
};

}  // namespace regraph::fleet
