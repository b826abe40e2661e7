#include "eval/model/local_memory.h"

#include <algorithm>
#include <cmath>

namespace regraph {
namespace {

// The L1 never shrinks below this, however much shared memory is taken.
constexpr std::int64_t kLeastL1Bytes = 16 << 10;
constexpr int kNewtonSteps = 12;

}  // namespace

std::uint64_t l1_bytes(const DeviceSpec& device, const Occupancy& occupancy,
                       std::int64_t shared_bytes_per_block) {
  const std::int64_t shared =
      (shared_bytes_per_block + device.reserved_shared_bytes) * occupancy.blocks_per_sm;
  return static_cast<std::uint64_t>(
      std::max<std::int64_t>(device.unified_bytes - shared, kLeastL1Bytes));
}

double hit_share(double distance, double capacity) {
  if (distance <= capacity) return 1.0;
  if (capacity <= 0.0) return 0.0;
  const double load = distance / capacity;
  // The smaller root; exp is convex, so that Newton's method comes to it from below.
  double share = 0.0;
  for (int step = 0; step < kNewtonSteps; ++step) {
    const double next = std::exp(-load * (1.0 - share));
    const double slope = 1.0 - load * next;
    if (slope <= 0.0) break;
    share += (next - share) / slope;
  }
  return std::clamp(share, 0.0, 1.0);
}

LocalTraffic local_traffic(const sass::LocalReuse& reuse, const LocalSharers& sharers,
                           const DeviceSpec& device) {
  LocalTraffic traffic;
  const double bytes = sass::kLocalLineBytes * sharers.all_warps;
  double clocks = 0.0;
  for (const auto& [lines_back, lines] : reuse.by_distance) {
    const double back = lines_back * sass::kLocalLineBytes;
    const double past_l1 = 1.0 - hit_share(back * sharers.sm_warps, sharers.l1_bytes);
    const double past_l2 =
        past_l1 * (1.0 - hit_share(back * sharers.device_warps,
                                   static_cast<double>(device.l2_full_speed_bytes)));
    traffic.l2_read_bytes += lines.loaded * past_l1 * bytes;
    traffic.dram_read_bytes += lines.loaded * past_l2 * bytes;
    traffic.l2_write_bytes += lines.written * past_l1 * bytes;
    traffic.dram_write_bytes += lines.written * past_l2 * bytes;
    clocks +=
        lines.loaded * ((1.0 - past_l1) * device.l1_latency +
                        (past_l1 - past_l2) * device.l2_latency + past_l2 * device.dram_latency);
  }
  traffic.load_clocks = reuse.loaded > 0.0 ? clocks / reuse.loaded : device.l1_latency;
  return traffic;
}

}  // namespace regraph
