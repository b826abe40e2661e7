// Traffic of a whole grid through L1 and L2, from the address slice of the first two waves of
// blocks.
//
// Only instructions that addresses, guards and branches depend on are executed (the backward slice
// of all global accesses); what they address is fed, interleaved between resident blocks by time
// quantum, to a sectored L1 per SM and one sectored L2. DRAM bytes of the grid are extrapolated as
// wave1 + (waves - 1) * wave2 (measured in a prototype: within 3 % of a full simulation).
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "base/thread_budget.h"
#include "ptx/caches/atomic_contention.h"
#include "ptx/interpreter.h"

#include <cstdint>
#include <string>
#include <vector>

namespace regraph::ptx {

struct CacheGeometry {
  int sm_count = 132;
  int resident_blocks_per_sm = 1;  // from occupancy
  std::uint64_t l1_bytes = 0;      // per SM, what shared memory leaves
  std::uint64_t l2_bytes = 0;      // effective
  int l1_ways = 4;
  int l2_ways = 16;
};

struct CacheSimulationLimits {
  std::uint64_t requests_per_wave = 2'000'000;  // warp requests kept; beyond it loops are truncated
  std::uint64_t instructions_per_wave = 200'000'000;  // warp instructions of the slice
  ThreadBudget* threads = nullptr;  // null: the caller's alone. The result does not depend on it
};

// Where the requests of one load instruction were served: each by the slowest of its sectors.
struct LoadService {
  double l1 = 0;
  double l2 = 0;
  double dram = 0;
  // In L1, but asked for by another request of the same quantum, so that it may still be on its
  // way.
  double shared_l2 = 0;
  double shared_dram = 0;
};

// Resident blocks take turns in the simulation after this many instructions of a warp.
inline constexpr int kQuantumInstructions = 64;

// Extrapolated to the whole grid.
struct CacheTraffic {
  double global_requests = 0;  // warp-level loads and stores
  double l1_load_sectors = 0;  // sectors asked of L1 by loads
  double l1_hit_sectors = 0;
  double l2_read_bytes = 0;  // L1 misses
  double l2_hit_bytes = 0;
  double l2_write_bytes = 0;  // stores; atomics are counted apart
  // Of those: sectors that no single request writes every byte of.
  double l2_partial_write_bytes = 0;
  double dram_read_bytes = 0;
  double dram_write_bytes = 0;
  AtomicTraffic atomics;
  // By PTX instruction, of the part that was simulated; zeros for all but loads.
  std::vector<LoadService> loads;
  // Sectors that atomics fetch from DRAM and that return there: those that are alone in their line
  // in a request, and others. Part of dram_read_bytes and dram_write_bytes.
  double atomic_lone_dram_sectors = 0;
  double atomic_joint_dram_sectors = 0;
  std::uint64_t blocks_simulated = 0;
  std::uint64_t grid_blocks = 0;
  bool truncated = false;  // a limit cut the trace: widen the interval
};

// `variables`: as RunOptions::variables. `found`, if not null: the access outside a buffer or
// misaligned that ended the simulation, if one did.
// Error: unsupported when addresses depend on data the slice cannot compute, or when what it runs
// ends otherwise than the kernel may; or a fault's message.
[[nodiscard]] Result<CacheTraffic> simulate_caches(
    const Program& program, const LaunchArguments& arguments, DeviceMemory& memory,
    const CacheGeometry& geometry, const CacheSimulationLimits& limits,
    const Cancellation& cancellation, ModuleMemory* variables = nullptr, Fault* found = nullptr);

}  // namespace regraph::ptx
