// Does a fleet's jobs: takes them, has them judged in disposable processes, answers.
//
//   place 1: take ─> problem ─> judge process ─> finish        a thread each
//   place 2: take ─> ...                                       the lease is extended meanwhile
//   run():   posts what the worker does, every few seconds
#pragma once

#include "base/cancellation.h"
#include "fleet/presence.h"
#include "fleet/queue/broker.h"
#include "fleet_worker/judge_process.h"
#include "fleet_worker/places.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

namespace regraph::fleet {

struct FleetWorkerOptions {
  WorkerPresence self;  // what does not change: name, host, version, lanes, device, places
  SpawnRequest judge;   // the program of a place's process
  JudgeLimits limits;
  // Where data of problems are kept, by their content, for whoever judges; made where it is not
  // there.
  std::filesystem::path files;
  // Why the worker can do no more, in words; empty: it can. Asked now and then, and with
  // `suspected` where a job came to nothing that may be the machine's fault. From any thread; may
  // be empty.
  std::function<std::string(bool suspected)> find_trouble;
  double leave_seconds = 30.0;  // that jobs under way get once the worker is to go
  WorkerReport report;
};

// Keeps nothing: what it has begun when it is killed comes back to the queue.
class FleetWorker {
 public:
  // `broker` must outlive this.
  FleetWorker(Broker& broker, FleetWorkerOptions options);
  ~FleetWorker();

  // Works until `leave` is requested: then takes nothing more, finishes what it can within
  // leave_seconds, gives the rest back, and takes its notice down. Retires in the same way where
  // find_trouble knows why, with a last notice that says so. Returns why it has retired; empty: it
  // was asked to leave. Call once.
  std::string run(const Cancellation& leave);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace regraph::fleet
