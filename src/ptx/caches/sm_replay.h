// One SM's share of a replay: its L1, which no other SM sees, so that SMs are replayed side by
// side.
#pragma once

#include "ptx/caches/access_trace.h"
#include "ptx/caches/cache_model.h"
#include "ptx/caches/wave_tracer.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace regraph::ptx {

// Places for the lines that one SM asked the L2 for in the current quantum: another request that
// wants the same may have to wait for it, though the cache has a place for it already. Few, and
// newer ones take older ones' places, as in the hardware's table of misses.
template <typename Fill>
class RecentFills {
 public:
  // Returns null if the line was not asked for in this quantum, or is forgotten.
  [[nodiscard]] const Fill* find(std::uint64_t line, std::uint32_t quantum) const {
    const Entry& entry = entries_[line % kEntries];
    return entry.line == line && entry.quantum == quantum ? &entry.fill : nullptr;
  }
  // Returns what is kept of the line; newly made unless it is there.
  Fill& add(std::uint64_t line, std::uint32_t quantum) {
    Entry& entry = entries_[line % kEntries];
    if (entry.line != line || entry.quantum != quantum) entry = {line, quantum, Fill{}};
    return entry.fill;
  }

 private:
  static constexpr std::size_t kEntries = 256;
  struct Entry {
    std::uint64_t line = ~std::uint64_t{0};
    std::uint32_t quantum = 0;
    [[no_unique_address]] Fill fill;
  };
  std::array<Entry, kEntries> entries_;
};

// What the L2 hears of one line of a request.
struct L2Access {
  std::uint64_t line = 0;
  std::uint32_t instruction = 0;
  AccessPattern::Kind kind = AccessPattern::Kind::load;
  std::uint8_t wanted : 4 = 0;  // sectors that the L2 is asked for; none if all were in the L1
  std::uint8_t whole : 4 = 0;   // of those, every byte of which is stored
  std::uint8_t in_l1 = 0;       // sectors that may still be on their way there
  bool last = false;            // of its request, among loads
};
static_assert(sizeof(L2Access) == 16);

// A part of a wave's replay: what all quanta up to some sent to the L2, in order.
struct SmOutput {
  struct Quantum {
    std::uint32_t quantum = 0;
    std::uint32_t begin = 0;  // into `accesses`
  };
  std::vector<Quantum> quanta;
  std::vector<L2Access> accesses;
};

class SmReplay {
 public:
  SmReplay(std::uint64_t l1_bytes, int l1_ways, std::size_t instructions)
      : l1_(l1_bytes, l1_ways), instruction_count_(instructions) {}

  // Blocks first, first + stride, ... of the wave are this SM's. Nothing that an earlier wave asked
  // for is still on its way; its L1 stays.
  void begin(const TracedWave& wave, std::size_t first, std::size_t stride);
  // Plays what is left of quanta up to `last` and appends to `output`.
  void play(std::uint32_t last, SmOutput& output);
  void clear_l1() { l1_.clear(); }

  struct Counts {
    std::uint64_t load_sectors = 0;
    std::uint64_t l1_hit_sectors = 0;
    std::vector<std::uint64_t> served;  // load requests that the L1 alone served, by instruction
  };
  // Since begin().
  [[nodiscard]] const Counts& counts() const { return counts_; }

 private:
  struct Nothing {};
  struct Cursor {
    BlockRequests block;
    std::size_t at = 0;
  };

  void play_request(const AccessTrace& trace, const TracedRequest& request, std::uint32_t quantum,
                    SmOutput& output);
  void play_load(const AccessPattern& pattern, const AccessPattern::Line* lines,
                 std::uint64_t base_line, std::uint32_t quantum, SmOutput& output);

  SectoredCache l1_;
  RecentFills<Nothing> asked_;
  std::vector<Cursor> cursors_;
  std::uint32_t next_quantum_ = 0;
  std::size_t instruction_count_;
  Counts counts_;
};

}  // namespace regraph::ptx
