// Plays the accesses of one wave of blocks to the caches: a sectored L1 for each SM, one L2.
#pragma once

#include "ptx/caches/access_trace.h"
#include "ptx/caches/cache_model.h"
#include "ptx/caches/cache_simulation.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace regraph::ptx {

// Resident blocks take turns after 1 << kQuantumShift instructions of a warp.
inline constexpr int kQuantumShift = 6;
static_assert(1 << kQuantumShift == kQuantumInstructions);

// Counts of one wave, of the part that was simulated.
struct WaveCounts {
  double requests = 0;
  double load_sectors = 0;
  double l1_hit_sectors = 0;
  double l2_read_sectors = 0;
  double l2_hit_sectors = 0;
  double l2_write_sectors = 0;
  double dram_read_sectors = 0;
  double dram_write_sectors = 0;
  double atomic_lone_sectors = 0;   // fetched for atomics
  double atomic_joint_sectors = 0;  // the same, with neighbours
};

class CacheReplay {
 public:
  // `loads` is of the program's instructions and is counted up; it must outlive the replay.
  CacheReplay(const CacheGeometry& geometry, std::vector<LoadService>& loads);

  // Blocks of a wave: block i's requests are [begins[i], begins[i + 1]) of the trace, sorted by
  // time. Caches keep what earlier waves left.
  void replay(const AccessTrace& trace, const std::vector<std::size_t>& begins, WaveCounts& counts);

  void clear_l1();
  void clear_l2() { l2_.clear(); }

 private:
  // Where a sector comes from, the slowest last.
  enum class Source : std::uint8_t { l1, shared_l2, l2, shared_dram, dram };

  // What one SM has asked the L2 for in the current quantum: another request that wants the same
  // may have to wait for it, though the cache has a place for it already.
  class RecentFills {
   public:
    // From where the slowest of `hit` sectors of a line, found in L1, comes.
    [[nodiscard]] Source source(std::uint64_t line, std::uint32_t hit,
                                std::uint32_t quantum) const {
      const Entry& entry = entries_[line % kEntries];
      if (entry.line != line || entry.quantum != quantum) return Source::l1;
      if ((entry.from_dram & hit) != 0) return Source::shared_dram;
      return (entry.from_l2 & hit) != 0 ? Source::shared_l2 : Source::l1;
    }
    void add(std::uint64_t line, std::uint32_t from_l2, std::uint32_t from_dram,
             std::uint32_t quantum) {
      Entry& entry = entries_[line % kEntries];
      if (entry.line != line || entry.quantum != quantum) entry = {line, quantum, 0, 0};
      entry.from_l2 = static_cast<std::uint8_t>(entry.from_l2 | from_l2);
      entry.from_dram = static_cast<std::uint8_t>(entry.from_dram | from_dram);
    }

   private:
    static constexpr std::size_t kEntries = 256;
    struct Entry {
      std::uint64_t line = ~std::uint64_t{0};
      std::uint32_t quantum = 0;
      std::uint8_t from_l2 = 0;  // sectors
      std::uint8_t from_dram = 0;
    };
    std::array<Entry, kEntries> entries_;
  };

  void replay_request(const AccessTrace& trace, const TracedRequest& request, SectoredCache& l1,
                      RecentFills& recent, std::uint32_t quantum, WaveCounts& counts);
  static void count(LoadService& service, Source source);

  std::size_t sms_;
  std::vector<LoadService>& loads_;
  SectoredCache l2_;
  std::vector<SectoredCache> l1_;
  std::vector<RecentFills> recent_;  // of each SM
};

}  // namespace regraph::ptx
