// One place of a worker: one job after the other.
#pragma once

#include "base/cancellation.h"
#include "fleet/problem_text.h"
#include "fleet/queue/broker.h"
#include "fleet_worker/fleet_worker.h"
#include "fleet_worker/judge_process.h"
#include "fleet_worker/places.h"

#include <functional>
#include <string>
#include <utility>

namespace regraph::fleet {

// For one thread.
class WorkerPlace {
 public:
  // All must outlive this. `stop` ends jobs under way, which are given back.
  // `is_broken` is asked where a job came to nothing that may be the machine's fault.
  WorkerPlace(Broker& broker, const FleetWorkerOptions& options, WorkerTally& tally,
              const Cancellation& leave, const Cancellation& stop, std::function<bool()> is_broken)
      : broker_(broker),
        options_(options),
        tally_(tally),
        leave_(leave),
        stop_(stop),
        is_broken_(std::move(is_broken)),
        judge_(options.judge, options.limits) {}

  // Works until `leave` is requested.
  void run();

 private:
  void work(Lease& lease);
  // Answers, whoever comes first. False where it was not to be.
  bool answer(Lease& lease, const EvaluationAnswer& answer);
  // Counts a try that came to nothing, and gives the job back, or up: then with that verdict.
  void failed(Lease& lease, const std::string& why, const EvaluationAnswer& in_the_end);
  // A problem's text, with its files here.
  [[nodiscard]] Result<std::string> problem_of(const Hash128& id);
  // Whether the worker is to leave, after a moment in which it would be told.
  [[nodiscard]] bool leaves_soon() const;
  [[nodiscard]] Status bring(const ProblemFile& file);

  Broker& broker_;
  const FleetWorkerOptions& options_;
  WorkerTally& tally_;
  const Cancellation& leave_;
  const Cancellation& stop_;
  std::function<bool()> is_broken_;
  JudgeProcess judge_;
  Hash128 problem_id_;   // the last one
  std::string problem_;  // its text
};

}  // namespace regraph::fleet
