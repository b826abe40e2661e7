// What all kinds of a worker's places have in common: they take jobs, are counted, and leave
// together.
#pragma once

#include "base/cancellation.h"
#include "fleet/presence.h"
#include "fleet/queue/broker.h"

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace regraph::fleet {

// What a user of the machine should know; from any thread. May be empty.
using WorkerReport = std::function<void(const std::string&)>;

// What the places of a worker count together. Thread-safe.
class WorkerTally {
 public:
  void began(const std::string& what);
  void ended(double seconds, bool done);
  // How often anything began or ended.
  [[nodiscard]] std::uint64_t changes() const;
  // Puts the numbers into a notice.
  void describe(WorkerPresence& presence) const;

 private:
  mutable std::mutex mutex_;
  int busy_ = 0;
  std::uint64_t done_ = 0;
  std::uint64_t failed_ = 0;
  std::uint64_t changes_ = 0;
  double busy_seconds_ = 0.0;
  std::string doing_;
};

inline constexpr double kRetrySeconds = 0.5;  // until somebody else may try
inline constexpr double kTakeSeconds = 1.0;   // that one attempt to take a job waits for it

// Takes jobs of the lanes, one after the other, until `leave` is requested. `before` is called
// before each attempt to take one.
void take_jobs(
    Broker& broker, const std::vector<std::string>& lanes, const WorkerReport& report,
    const Cancellation& leave, const std::function<void(Lease&)>& work,
    const std::function<void()>& before = [] {});

// Runs `place` in self.places threads until all return, which they do once `leave` is requested;
// `stop` is requested `leave_seconds` later, for jobs to be given back. Posts meanwhile what the
// worker does, and takes its notice down in the end. `look_on` is called many times a second and
// says why the worker retires, if it does: then a notice with the reason is left behind.
void run_places(
    Broker& broker, const WorkerPresence& self, const WorkerTally& tally, double leave_seconds,
    const Cancellation& leave, const std::function<void(const Cancellation& stop)>& place,
    const std::function<std::string()>& look_on = [] { return std::string(); });

// Counts a try at the job that came to nothing, on the board. True where it was the last: it is to
// be answered somehow. Else it has been given back, for somebody to try `retry_seconds` from now.
[[nodiscard]] bool was_last_try(Broker& broker, Lease& lease, const std::string& worker,
                                const std::string& why, const WorkerReport& report,
                                double retry_seconds = kRetrySeconds);

}  // namespace regraph::fleet
