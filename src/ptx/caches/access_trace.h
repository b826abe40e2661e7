// Compact records of the global accesses of a block: a base line, a moment and a remembered shape.
#pragma once

#include "ptx/caches/atomic_contention.h"
#include "ptx/memory/block_context.h"

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace regraph::ptx {

// The sectors that one request of an instruction touches, relative to its base line.
struct AccessPattern {
  struct Line {
    std::int64_t delta = 0;  // lines from the base
    std::uint32_t sectors = 0;
    std::uint32_t whole = 0;  // of those, every byte of which is stored
  };
  enum class Kind : std::uint8_t { load, load_bypassing_l1, store, atomic };
  Kind kind = Kind::load;
  std::uint32_t sector_count = 0;
  std::uint32_t partial_count = 0;  // sectors that a store writes in part
  std::uint32_t first_line = 0;     // into AccessTrace::lines
  std::uint32_t line_count = 0;
  std::uint32_t instruction = 0;
};

struct TracedRequest {
  std::uint64_t line = 0;
  std::uint32_t pattern = 0;
  std::uint32_t time = 0;  // instructions the warp had executed
};

// Resident blocks take turns after 1 << kQuantumShift instructions of a warp.
inline constexpr int kQuantumShift = 6;

// The turn in which a request is made.
[[nodiscard]] inline std::uint32_t quantum_of(const TracedRequest& request) {
  return request.time >> kQuantumShift;
}

// What was traced, in sums.
struct TraceTotals {
  std::uint64_t requests = 0;
  std::uint64_t line_accesses = 0;
  std::uint64_t load_sectors = 0;
  std::uint64_t write_sectors = 0;          // of stores
  std::uint64_t partial_write_sectors = 0;  // of those, written in part
};

class AccessTrace : public AccessSink {
 public:
  void access(const Record& record, Warp& warp, AccessSite& site) override;

  [[nodiscard]] const std::vector<TracedRequest>& requests() const { return requests_; }
  [[nodiscard]] const AccessPattern& pattern(std::uint32_t id) const { return patterns_[id]; }
  [[nodiscard]] const AccessPattern::Line* lines(const AccessPattern& pattern) const {
    return lines_.data() + pattern.first_line;
  }
  [[nodiscard]] const TraceTotals& totals() const { return totals_; }
  [[nodiscard]] const AtomicContention& atomics() const { return atomics_; }
  // Forgets what clear() keeps: atomics sum up over waves.
  void clear_atomics() { atomics_.clear(); }
  // Sectors written at least once since the last clear; counted only when asked for.
  void count_written_sectors(bool count) { count_written_ = count; }
  [[nodiscard]] std::uint64_t written_sectors() const { return written_.size(); }
  // The same of atomics.
  [[nodiscard]] std::uint64_t atomic_sectors() const { return atomic_written_.size(); }
  // Forgets requests and sums; patterns and atomics stay.
  void clear();
  // Puts the requests from `first` on in order of their quanta, stably.
  void sort_by_quantum(std::size_t first);

 private:
  std::uint32_t intern(AccessPattern::Kind kind, std::uint32_t instruction, std::uint64_t base_line,
                       const std::uint64_t* addresses, std::uint32_t mask, std::uint32_t bytes);

  std::vector<TracedRequest> requests_;
  std::vector<AccessPattern> patterns_{AccessPattern{}};  // 0 is no pattern
  std::vector<AccessPattern::Line> lines_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> by_hash_;
  std::unordered_set<std::uint64_t> written_;
  std::unordered_set<std::uint64_t> atomic_written_;
  TraceTotals totals_;
  AtomicContention atomics_;
  bool count_written_ = false;
};

}  // namespace regraph::ptx
