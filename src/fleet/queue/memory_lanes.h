// The jobs of a MemoryBroker that have no result yet. No locks and no clock of its own.
#pragma once

#include "base/hash.h"
#include "fleet/queue/job.h"
#include "fleet/queue/job_queue.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

namespace regraph::fleet {

// Not thread-safe.
class MemoryLanes {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // A job that was handed out. Hands-out of one job differ in `deliveries`.
  struct Handout {
    std::uint64_t number = 0;
    int deliveries = 0;
    Job job;
  };

  // False where the job waits or is under way already.
  bool add(const Job& job);
  // The oldest job of the lane that is nobody's at `now`; whoever gets it has it until `until`.
  [[nodiscard]] std::optional<Handout> take(const std::string& lane, Time now, Time until);
  // Nothing where it was handed out again meanwhile.
  void extend(const Handout& handout, Time until);
  // Somebody else may have it from `when` on. Nothing where it was handed out again meanwhile.
  void give_back(const Handout& handout, Time when);
  // Whoever has it.
  void remove(const Handout& handout);
  void remove(const Job& job);

  [[nodiscard]] LaneState state(const std::string& lane, Time now);
  // When the next job of the lane becomes free by itself.
  [[nodiscard]] std::optional<Time> next_free(const std::string& lane) const;

 private:
  struct Entry {
    Job job;
    int deliveries = 0;
    bool held = false;  // until `free_at`, by a worker
    Time free_at;       // of those that are not in `free`
  };
  struct Lane {
    std::map<std::uint64_t, Entry> entries;
    std::unordered_map<Hash128, std::uint64_t> numbers;
    std::set<std::uint64_t> free;                    // the oldest first
    std::set<std::pair<Time, std::uint64_t>> later;  // held, or given back for later
  };

  static void release(Lane& lane, Time now);
  static void remove(Lane& lane, std::uint64_t number);
  // The entry as long as it is still in this worker's hands.
  Entry* held_entry(const Handout& handout);
  void move_to(const Handout& handout, Entry& entry, Time when);

  std::map<std::string, Lane> lanes_;
  std::uint64_t next_number_ = 1;
};

}  // namespace regraph::fleet
