#include "eval/model/load_latency.h"

#include <algorithm>
#include <cmath>

namespace regraph {
namespace {

constexpr double kSubCores = 4.0;  // each issues an instruction a clock

// From sums over the grid, where nothing is known of single loads.
double average_clocks(const ptx::CacheTraffic& traffic, const DeviceSpec& device) {
  if (traffic.l1_load_sectors <= 0.0) return device.l2_latency;
  const double l1 = traffic.l1_hit_sectors / traffic.l1_load_sectors;
  const double l2 =
      traffic.l2_read_bytes > 0.0 ? traffic.l2_hit_bytes / traffic.l2_read_bytes : 1.0;
  const double miss = l2 * device.l2_latency + (1.0 - l2) * device.dram_latency;
  // A warp waits for the slowest of its sectors: requests that are not wholly in L1 pay for the
  // miss.
  const double sectors = traffic.global_requests > 0.0
                             ? std::max(1.0, traffic.l1_load_sectors / traffic.global_requests)
                             : 1.0;
  const double all_hit = std::pow(l1, std::min(sectors, 4.0));
  return all_hit * device.l1_latency + (1.0 - all_hit) * miss;
}

}  // namespace

LoadLatency load_latency(const ptx::CacheTraffic& traffic, const DeviceSpec& device,
                         double resident_warps) {
  const double quantum = ptx::kQuantumInstructions * std::max(1.0, resident_warps / kSubCores);
  const auto shared = [&](double full) {
    return std::max(device.l1_latency, full * std::min(1.0, full / quantum));
  };
  LoadLatency latency{average_clocks(traffic, device), {}};
  double clocks = 0.0;
  double requests = 0.0;
  for (const ptx::LoadService& load : traffic.loads) {
    const double all = load.l1 + load.l2 + load.dram + load.shared_l2 + load.shared_dram;
    const double sum = load.l1 * device.l1_latency + load.l2 * device.l2_latency +
                       load.dram * device.dram_latency +
                       load.shared_l2 * shared(device.l2_latency) +
                       load.shared_dram * shared(device.dram_latency);
    latency.by_instruction.push_back(all > 0.0 ? sum / all : 0.0);
    clocks += sum;
    requests += all;
  }
  if (requests > 0.0) latency.clocks = clocks / requests;
  return latency;
}

}  // namespace regraph
