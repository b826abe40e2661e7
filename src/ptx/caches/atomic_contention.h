// Where global atomics meet: the L2 works on one sector of a 512-byte stretch of memory at a time,
// once for every lane that wants the same word (found with bench/h200/atomics.cu).
#pragma once

#include "ptx/decode/atomic_traits.h"

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

namespace regraph::ptx {

// Sums over some requests. Passes: for each sector of a request, as many as lanes want its most
// wanted word (of a vector's lanes: the most wanted vector). Atomics on 16 bits are loops that swap
// words of 32: each round is a request of all lanes that are left, and of each word one lane wins.
// Rounds that other warps make them lose are not counted.
struct AtomicTraffic {
  double lanes = 0;
  double payload_bytes = 0;                // of all lanes, as 4-byte operands would take as long
  double sector_operations = 0;            // sectors of each request
  double returning_sector_operations = 0;  // of those, whose old values are read
  // Of the stretch with most passes.
  double hottest_full_passes = 0;     // that touch every byte of the sector
  double hottest_partial_passes = 0;  // others
  // Of the sector with most, in floating-point additions alone.
  double hottest_floating_passes = 0;
  double footprint_bytes = 0;  // of the buffers that are met in

  // Multiplies all but the footprint.
  void scale(double factor);
};

class AtomicContention {
 public:
  static constexpr std::uint64_t kStretchBytes = 512;
  // Requests that are looked at; later ones count as if they were like them. Bounds time and
  // memory.
  static constexpr std::uint64_t kMostRequests = std::uint64_t{1} << 17;

  // One warp request: the lanes in `mask` address `bytes` bytes each (1 to 16, aligned) inside a
  // buffer that begins at `buffer_begin` and has `buffer_bytes`.
  void add(const std::uint64_t* addresses, std::uint32_t mask, std::uint32_t bytes,
           AtomicTraits traits, std::uint64_t buffer_begin, std::uint64_t buffer_bytes);
  void clear();
  [[nodiscard]] AtomicTraffic traffic() const;

 private:
  struct Passes {
    std::uint64_t full = 0;
    std::uint64_t partial = 0;
  };
  std::unordered_map<std::uint64_t, Passes> stretches_;
  std::unordered_map<std::uint64_t, std::uint64_t> floating_sectors_;
  std::map<std::uint64_t, std::uint64_t> buffers_;  // bytes by address
  // One request, or one round of a loop. `sorted`: the lanes' addresses in ascending order.
  void add_round(const std::vector<std::uint64_t>& sorted, std::uint32_t bytes,
                 std::uint32_t payload, AtomicTraits traits);

  AtomicTraffic sums_;
  std::uint64_t requests_ = 0;
};

}  // namespace regraph::ptx
