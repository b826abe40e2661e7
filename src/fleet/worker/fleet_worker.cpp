#include "fleet/worker/fleet_worker.h"

#include "fleet/worker/worker_place.h"

#include <utility>

namespace regraph::fleet {
struct FleetWorker::State {
  State(Broker& with, FleetWorkerOptions chosen) : broker(with), options(std::move(chosen)) {}

  Broker& broker;
  const FleetWorkerOptions options;
  WorkerTally tally;
};

FleetWorker::FleetWorker(Broker& broker, FleetWorkerOptions options)
    : state_(std::make_unique<State>(broker, std::move(options))) {}
FleetWorker::~FleetWorker() = default;

void FleetWorker::run(const Cancellation& leave) {
  State& state = *state_;
  run_places(state.broker, state.options.self, state.tally, state.options.leave_seconds, leave,
             [&](const Cancellation& stop) {
               WorkerPlace(state.broker, state.options, state.tally, leave, stop).run();
             });
}

}  // namespace regraph::fleet
