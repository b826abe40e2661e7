#include "fleet_worker/fleet_worker.h"

#include "fleet_worker/worker_place.h"

#include <chrono>
#include <mutex>
#include <utility>

namespace regraph::fleet {
namespace {

constexpr std::chrono::seconds kLookPeriod{5};  // between looks for trouble

}  // namespace

struct FleetWorker::State {
  State(Broker& with, FleetWorkerOptions chosen) : broker(with), options(std::move(chosen)) {}

  // Asks whether it is to retire; the first reason stays.
  void look(bool suspected) {
    if (!options.find_trouble) return;
    const std::string trouble = options.find_trouble(suspected);
    if (trouble.empty()) return;
    const std::lock_guard lock(mutex);
    if (reason.empty()) reason = trouble;
    leave.request();
  }
  [[nodiscard]] std::string why() const {
    const std::lock_guard lock(mutex);
    return reason;
  }

  Broker& broker;
  const FleetWorkerOptions options;
  WorkerTally tally;
  Cancellation leave;  // because it was asked to, or retires
  mutable std::mutex mutex;
  std::string reason;
};

FleetWorker::FleetWorker(Broker& broker, FleetWorkerOptions options)
    : state_(std::make_unique<State>(broker, std::move(options))) {}
FleetWorker::~FleetWorker() = default;

std::string FleetWorker::run(const Cancellation& leave) {
  State& state = *state_;
  auto next_look = std::chrono::steady_clock::now();
  const auto look_on = [&] {
    if (leave.requested()) state.leave.request();
    if (const auto now = std::chrono::steady_clock::now(); now >= next_look) {
      state.look(false);
      next_look = now + kLookPeriod;
    }
    return state.why();
  };
  run_places(
      state.broker, state.options.self, state.tally, state.options.leave_seconds, state.leave,
      [&](const Cancellation& stop) {
        WorkerPlace(state.broker, state.options, state.tally, state.leave, stop, [&state] {
          state.look(true);
          return !state.why().empty();
        }).run();
      },
      look_on);
  return state.why();
}

}  // namespace regraph::fleet
