#include "fleet_worker/places.h"

#include "fleet_worker/failure_notice.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace regraph::fleet {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLost{500};  // until the broker is asked again
constexpr std::chrono::milliseconds kPoll{50};
constexpr std::chrono::seconds kNews{1};
constexpr const char* kWorking = "working";

void post_presence(Broker& broker, const WorkerPresence& self, const WorkerTally& tally,
                   const std::string& state, Clock::time_point start) {
  WorkerPresence presence = self;
  presence.state = state;
  if (state != kWorking) presence.lanes.clear();
  presence.up_seconds = std::chrono::duration<double>(Clock::now() - start).count();
  tally.describe(presence);
  // Whoever cannot be reached now is told the next time.
  (void)broker.post(Board::workers, self.name, presence_text(presence));
}

}  // namespace

void WorkerTally::began(const std::string& what) {
  const std::lock_guard lock(mutex_);
  ++busy_;
  ++changes_;
  doing_ = what;
}

void WorkerTally::ended(double seconds, bool done) {
  const std::lock_guard lock(mutex_);
  --busy_;
  ++changes_;
  busy_seconds_ += seconds;
  ++(done ? done_ : failed_);
  if (busy_ == 0) doing_.clear();
}

std::uint64_t WorkerTally::changes() const {
  const std::lock_guard lock(mutex_);
  return changes_;
}

void WorkerTally::describe(WorkerPresence& presence) const {
  const std::lock_guard lock(mutex_);
  presence.busy = busy_;
  presence.done = done_;
  presence.failed = failed_;
  presence.busy_seconds = busy_seconds_;
  presence.doing = doing_;
}

void take_jobs(Broker& broker, const std::vector<std::string>& lanes, const WorkerReport& report,
               const Cancellation& leave, const std::function<void(Lease&)>& work,
               const std::function<void()>& before) {
  bool was_lost = false;
  while (true) {
    before();
    if (leave.requested()) return;
    auto lease = broker.take(lanes, kTakeSeconds, leave);
    if (!lease) {
      if (!was_lost && !leave.requested() && report)
        report("no jobs can be taken: " + lease.error().message);
      was_lost = true;
      std::this_thread::sleep_for(kLost);
      continue;
    }
    was_lost = false;
    if (*lease != nullptr) work(**lease);
  }
}

void run_places(Broker& broker, const WorkerPresence& self, const WorkerTally& tally,
                double leave_seconds, const Cancellation& leave,
                const std::function<void(const Cancellation& stop)>& place,
                const std::function<std::string()>& look_on) {
  Cancellation stop;
  std::atomic<int> working = self.places;
  std::vector<std::thread> places;
  places.reserve(static_cast<std::size_t>(std::max(0, self.places)));
  for (int number = 0; number < self.places; ++number) {
    places.emplace_back([&] {
      place(stop);
      --working;
    });
  }
  const auto start = Clock::now();
  const auto period = std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(kPresenceSeconds / 3.0));
  auto next_post = start;
  std::uint64_t told_changes = 0;
  std::optional<Clock::time_point> asked_to_leave;
  std::string retires;
  while (working.load() > 0) {
    const auto now = Clock::now();
    retires = look_on();
    if (leave.requested() && !asked_to_leave) {
      asked_to_leave = now;
      next_post = now;
    }
    if (asked_to_leave && now - *asked_to_leave > std::chrono::duration<double>(leave_seconds))
      stop.request();
    // News soon, but not each by itself.
    const std::uint64_t changes = tally.changes();
    if (now >= next_post || (changes != told_changes && now >= next_post - period + kNews)) {
      told_changes = changes;
      const std::string state = !retires.empty() ? "retired: " + retires
                                : asked_to_leave ? "leaving"
                                                 : kWorking;
      post_presence(broker, self, tally, state, start);
      next_post = now + period;
    }
    std::this_thread::sleep_for(kPoll);
  }
  for (std::thread& one : places)
    one.join();
  retires = look_on();
  if (retires.empty())
    (void)broker.withdraw(Board::workers, self.name);
  else
    post_presence(broker, self, tally, "retired: " + retires, start);
}

bool was_last_try(Broker& broker, Lease& lease, const std::string& worker, const std::string& why,
                  const WorkerReport& report, double retry_seconds) {
  const std::string key = lease.job().id.hex();
  FailureNotice notice;
  if (const auto known = broker.read(Board::failures, key); known && !known->empty()) {
    if (auto read = read_failure(*known)) notice = std::move(*read);
  }
  notice.lane = lease.job().lane;
  if (notice.tries.size() < static_cast<std::size_t>(kMostTries))
    notice.tries.push_back(worker + ": " + why);
  notice.given_up = notice.tries.size() >= static_cast<std::size_t>(kMostTries) ||
                    lease.deliveries() > kMostDeliveries;
  const Status posted = broker.post(Board::failures, key, failure_text(notice));
  if (report) {
    report(fmt::format("job {} came to nothing ({} of {} tries): {}", key, notice.tries.size(),
                       kMostTries, why));
  }
  if (posted && notice.given_up) return true;
  lease.give_back(retry_seconds);
  return false;
}

}  // namespace regraph::fleet
