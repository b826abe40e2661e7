// Plays the accesses of a wave of blocks to the caches: a sectored L1 for each SM, one L2.
//
//   SM 0   blocks 0, n, 2n, ..   -> L1 -+
//   SM 1   blocks 1, n+1, ..     -> L1 -+-> L2, which hears them quantum by quantum, within one
//    ..                                 |   SM after SM
//   SM n-1                       -> L1 -+
//
// L1s know nothing of each other, so SMs are played by several threads, some quanta at a time,
// while another plays to the L2 what they sent it in the quanta before.
#pragma once

#include "base/thread_budget.h"
#include "ptx/caches/cache_model.h"
#include "ptx/caches/cache_simulation.h"
#include "ptx/caches/sm_replay.h"
#include "ptx/caches/wave_tracer.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace regraph::ptx {

// Counts of one wave, of the part that was simulated.
struct WaveCounts {
  double requests = 0;
  double load_sectors = 0;
  double l1_hit_sectors = 0;
  double l2_read_sectors = 0;
  double l2_hit_sectors = 0;
  double l2_write_sectors = 0;
  double l2_partial_write_sectors = 0;  // of those
  double dram_read_sectors = 0;
  double dram_write_sectors = 0;
  double atomic_lone_sectors = 0;   // fetched for atomics
  double atomic_joint_sectors = 0;  // the same, with neighbours
};

class CacheReplay {
 public:
  // `loads` is of the program's instructions and is counted up; it and `threads` must outlive the
  // replay.
  CacheReplay(const CacheGeometry& geometry, std::vector<LoadService>& loads,
              ThreadBudget& threads);

  // Caches keep what earlier waves left.
  [[nodiscard]] WaveCounts replay(const TracedWave& wave);

  void clear_l1();
  void clear_l2() { l2_.clear(); }

 private:
  // Where a sector comes from, the slowest last.
  enum class Source : std::uint8_t { l1, shared_l2, l2, shared_dram, dram };
  // Sectors of a line that the L2 was asked for, by where it had them from.
  struct Fill {
    std::uint8_t from_l2 = 0;
    std::uint8_t from_dram = 0;
  };
  // What is kept of one SM at the L2's side.
  struct L2Side {
    RecentFills<Fill> fills;
    Source slowest = Source::l1;  // so far, of the request whose lines are being played
  };

  void play_l2(const std::vector<SmOutput>& sent, WaveCounts& counts);
  // Of the `which`th quantum that an SM sent accesses of.
  void play_quantum(const SmOutput& sent, std::size_t which, L2Side& side, WaveCounts& counts);
  void play_access(const L2Access& access, std::uint32_t quantum, L2Side& side, WaveCounts& counts);
  void play_load(const L2Access& access, std::uint32_t quantum, L2Side& side, WaveCounts& counts);
  static void count(LoadService& service, Source source, double requests);

  ThreadBudget& threads_;
  std::vector<LoadService>& loads_;
  SectoredCache l2_;
  std::vector<SmReplay> sms_;
  std::vector<L2Side> l2_sides_;  // of each SM
};

}  // namespace regraph::ptx
