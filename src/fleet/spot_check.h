// Which of the workers' answers are found out here, too, and what that came to.
#pragma once

#include "base/hash.h"

#include <atomic>
#include <cstdint>

namespace regraph::fleet {

struct FleetCounts {
  std::uint64_t remote = 0;     // evaluations by workers
  std::uint64_t local = 0;      // here, checks aside
  std::uint64_t checked = 0;    // evaluated here, too
  std::uint64_t differing = 0;  // of these: an answer that was not what it is here
};

// Thread-safe.
class SpotCheck {
 public:
  // Of `share` jobs one is checked, all once a worker was found to be wrong; 0: none ever.
  explicit SpotCheck(int share);

  // Nobody else can tell which: they are chosen with a secret of this object's.
  [[nodiscard]] bool chooses(const Hash128& job) const;
  // An answer was not what it is here.
  void distrust();

  void count_remote() { remote_.fetch_add(1); }
  void count_local() { local_.fetch_add(1); }
  void count_checked() { checked_.fetch_add(1); }
  [[nodiscard]] FleetCounts counts() const;

 private:
  const int share_;
  const std::uint64_t secret_;
  std::atomic<bool> distrusts_ = false;
  std::atomic<std::uint64_t> remote_ = 0;
  std::atomic<std::uint64_t> local_ = 0;
  std::atomic<std::uint64_t> checked_ = 0;
  std::atomic<std::uint64_t> differing_ = 0;
};

}  // namespace regraph::fleet
