#include "fleet/worker/fleet_worker.h"

#include "fleet/worker/worker_place.h"

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

namespace regraph::fleet {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPoll{50};

}  // namespace

struct FleetWorker::State {
  State(Broker& with, FleetWorkerOptions chosen) : broker(with), options(std::move(chosen)) {}

  void post(const char* state, Clock::time_point start) {
    WorkerPresence presence = options.self;
    presence.state = state;
    presence.up_seconds = std::chrono::duration<double>(Clock::now() - start).count();
    tally.describe(presence);
    // Whoever cannot be reached now is told the next time.
    (void)broker.post(Board::workers, options.self.name, presence_text(presence));
  }

  Broker& broker;
  const FleetWorkerOptions options;
  WorkerTally tally;
};

FleetWorker::FleetWorker(Broker& broker, FleetWorkerOptions options)
    : state_(std::make_unique<State>(broker, std::move(options))) {}
FleetWorker::~FleetWorker() = default;

void FleetWorker::run(const Cancellation& leave) {
  State& state = *state_;
  Cancellation stop;
  std::atomic<int> working = state.options.self.places;
  std::vector<std::thread> places;
  for (int place = 0; place < state.options.self.places; ++place) {
    places.emplace_back([&] {
      WorkerPlace(state.broker, state.options, state.tally, leave, stop).run();
      --working;
    });
  }
  const auto start = Clock::now();
  const std::chrono::duration<double> period(kPresenceSeconds / 3.0);
  auto next_post = start;
  std::optional<Clock::time_point> asked_to_leave;
  while (working.load() > 0) {
    const auto now = Clock::now();
    if (leave.requested() && !asked_to_leave) {
      asked_to_leave = now;
      next_post = now;
    }
    if (asked_to_leave &&
        now - *asked_to_leave > std::chrono::duration<double>(state.options.leave_seconds))
      stop.request();
    if (now >= next_post) {
      state.post(asked_to_leave ? "leaving" : "working", start);
      next_post = now + std::chrono::duration_cast<Clock::duration>(period);
    }
    std::this_thread::sleep_for(kPoll);
  }
  for (std::thread& place : places)
    place.join();
  (void)state.broker.withdraw(Board::workers, state.options.self.name);
}

}  // namespace regraph::fleet
