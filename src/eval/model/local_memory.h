// What spilled registers and local arrays ask of the caches and of memory.
#pragma once

#include "eval/model/device.h"
#include "eval/model/occupancy.h"
#include "sass/local_reuse.h"

#include <cstdint>

namespace regraph {

// Bytes of L1 that `shared_bytes_per_block` of shared memory in each resident block leave, at least
// 16 KiB.
[[nodiscard]] std::uint64_t l1_bytes(const DeviceSpec& device, const Occupancy& occupancy,
                                     std::int64_t shared_bytes_per_block);

// Share, 0 to 1, of accesses that hit a cache of `capacity` when `distance` (in the same unit) of
// data were touched since: 1 up to its size, beyond it the solution of h = exp(-(1 - h) distance /
// capacity). That is a cache that replaces a line at random on each miss, met by a stream of
// accesses that all come from as far back. How L1 and L2 choose is not documented; one that
// replaces the least recently used would hit nothing, a cliff that bandwidths measured over sizes
// do not show.
[[nodiscard]] double hit_share(double distance, double capacity);

// Bytes of the whole grid, and what its average load waits for.
struct LocalTraffic {
  double l2_read_bytes = 0.0;
  double l2_write_bytes = 0.0;
  double dram_read_bytes = 0.0;
  double dram_write_bytes = 0.0;
  double load_clocks = 0.0;  // latency of an average load; L1's when there is none
};

// Who shares the caches: warps resident on the busiest SM and on the whole device, of all that the
// grid has.
struct LocalSharers {
  double sm_warps = 0.0;
  double device_warps = 0.0;
  double all_warps = 0.0;
  double l1_bytes = 0.0;
};

// Resident warps are taken to walk through their stacks at one pace, so that each warp's distances
// count once for every warp that shares a cache. Lines are written when they are replaced.
[[nodiscard]] LocalTraffic local_traffic(const sass::LocalReuse& reuse, const LocalSharers& sharers,
                                         const DeviceSpec& device);

}  // namespace regraph
