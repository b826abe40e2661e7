// mbarriers and bulk copies, decoded; and what an mbarrier is in memory.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace regraph::ptx {

// Record::e of Operation::mbarrier.
enum class MbarrierAction : std::uint8_t {
  init,
  invalidate,
  expect_bytes,
  complete_bytes,
  arrive,
  arrive_expecting,  // bytes
  arrive_incomplete,
  test,         // b: a state
  test_parity,  // b: 0 or 1
  copies_arrive,
};

// Record::flags of Operation::mbarrier: the address register is narrow; the action orders nothing;
// the arrival lowers the number expected of later phases; a failed test waits a while.
inline constexpr std::uint32_t kMbarrierNarrowAddress = 1;
inline constexpr std::uint32_t kMbarrierRelaxed = 2;
inline constexpr std::uint32_t kMbarrierDrops = 4;
inline constexpr std::uint32_t kMbarrierSuspends = 8;

// The 64 bits of an mbarrier, which PTX leaves open: arrivals expected of a phase, those missing of
// this one, bytes missing, a mark that uninitialised memory does not have, the phase's parity. What
// arrivals return is these bits as they were.
struct Mbarrier {
  static constexpr std::uint32_t kMostArrivals = (1U << 20) - 1;
  static constexpr int kPendingShift = 20;

  std::uint32_t expected = 0;
  std::uint32_t pending = 0;
  std::int32_t bytes = 0;  // in 21 bits
  bool phase = false;

  [[nodiscard]] static std::optional<Mbarrier> from_bits(std::uint64_t bits) {
    if ((bits >> 61 & 3U) != 1) return std::nullopt;
    Mbarrier barrier;
    barrier.expected = static_cast<std::uint32_t>(bits) & kMostArrivals;
    barrier.pending = static_cast<std::uint32_t>(bits >> kPendingShift) & kMostArrivals;
    barrier.bytes = static_cast<std::int32_t>(static_cast<std::int64_t>(bits << 3) >> (64 - 21));
    barrier.phase = bits >> 63 != 0;
    return barrier;
  }
  [[nodiscard]] std::uint64_t to_bits() const {
    return expected | std::uint64_t{pending} << kPendingShift |
           (static_cast<std::uint64_t>(bytes) & 0x1fffffU) << 40 | 1ULL << 61 |
           std::uint64_t{phase} << 63;
  }
  // Says whether the phase ended: all have arrived, and all bytes.
  bool end_phase() {
    if (pending != 0 || bytes != 0) return false;
    phase = !phase;
    pending = expected;
    return true;
  }
};

// An address that an instruction names.
struct NamedAddress {
  std::uint32_t offset = 0;  // of its register
  bool narrow = false;
  std::int64_t displacement = 0;
};

// cp.async.bulk between global and shared memory. Its record's site is the one in global memory,
// the next is the one in shared memory.
struct BulkCopy {
  bool to_shared = true;
  // Of a tensor: `global` is its map, which says what is copied from the coordinates on.
  int dimensions = 0;
  std::array<std::uint32_t, 5> coordinates = {};
  bool is_map = false;  // a tensor's map is put where copies look for it
  NamedAddress global;
  NamedAddress shared;
  NamedAddress mbarrier;  // to shared memory only
  std::uint32_t size = 0;
  std::uint32_t addresses = 0;  // a wide register for those of one piece
};

// Record::flags of bulk_copy: report what it accesses, do it.
inline constexpr std::uint32_t kBulkReports = 1;
inline constexpr std::uint32_t kBulkCopies = 2;

}  // namespace regraph::ptx
