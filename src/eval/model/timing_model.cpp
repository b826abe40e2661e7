#include "eval/model/timing_model.h"

#include "eval/model/atomic_time.h"
#include "eval/model/critical_path.h"
#include "eval/model/merge_groups.h"
#include "eval/model/reliability.h"
#include "eval/model/work.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace regraph {
namespace {

constexpr double kWarpLanes = 32.0;
constexpr double kSubCores = 4.0;
constexpr double kShuffleLanesPerClock = 32.0;

double p_norm(std::initializer_list<double> values, double p) {
  double sum = 0.0;
  for (const double value : values)
    sum += std::pow(value, p);
  return std::pow(sum, 1.0 / p);
}

// Where the average global load is served, from the cache simulation.
LoadLatency load_latency(const ptx::CacheTraffic& traffic, const DeviceSpec& device) {
  if (traffic.l1_load_sectors <= 0.0) return {device.l2_latency};
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
  return {all_hit * device.l1_latency + (1.0 - all_hit) * miss};
}

TimeBounds bounds_of(const ModelInput& input, const DeviceSpec& device, const WarpWork& work) {
  TimeBounds bounds;
  const double blocks = static_cast<double>(input.launch.grid.count());
  const double sm_blocks = std::ceil(blocks / device.sm_count);  // of the busiest SM
  const double warps = sm_blocks * input.occupancy.warps_per_block;
  const double clock = device.clock_hertz;
  auto pipe = [&](double instructions, double lanes) {
    return instructions * warps * kWarpLanes / lanes / clock;
  };
  bounds.issue = work.issued * warps / kSubCores / clock;
  // Integer multiplications run on the FP32 pipe, at the integer pipe's width.
  bounds.fp32 =
      pipe(work.fp32, device.fp32_lanes) + pipe(work.integer_multiply, device.int32_lanes);
  bounds.fp64 = pipe(work.fp64, device.fp64_lanes);
  bounds.integer = pipe(work.integer, device.int32_lanes);
  bounds.special_function = pipe(work.special_function, device.special_function_lanes);
  const double lsu_scale = 128.0 / device.lsu_bytes_per_clock;
  bounds.load_store = (work.shared_wavefronts + work.global_passes) * lsu_scale * warps / clock +
                      pipe(work.shuffle, kShuffleLanesPerClock);
  const double waves =
      std::ceil(blocks / (static_cast<double>(device.sm_count) * input.occupancy.blocks_per_sm));
  const double path = critical_path_clocks(input.program, input.sample, device,
                                           load_latency(input.traffic, device));
  bounds.latency = waves * (path + device.block_launch_clocks) / clock;
  bounds.l2 = input.traffic.l2_read_bytes / device.l2_bytes_per_second +
              input.traffic.l2_write_bytes / device.l2_write_bytes_per_second;
  bounds.dram = (input.traffic.dram_read_bytes + input.traffic.dram_write_bytes) /
                    device.dram_bytes_per_second +
                scattered_atomic_seconds(input.traffic.atomic_lone_dram_sectors, device);
  bounds.atomics = global_atomic_seconds(input.traffic.atomics, device);
  return bounds;
}

std::string bottleneck_of(const TimeBounds& bounds, const Occupancy& occupancy) {
  const std::array<std::pair<double, std::string>, 10> named = {{
      {bounds.dram, "DRAM bandwidth"},
      {bounds.l2, "L2 bandwidth"},
      {bounds.atomics, "global atomics that meet"},
      {bounds.load_store, "load/store path (L1 and shared memory)"},
      {bounds.fp32, "FP32 arithmetic"},
      {bounds.fp64, "FP64 arithmetic"},
      {bounds.integer, "integer arithmetic"},
      {bounds.special_function, "special functions"},
      {bounds.issue, "instruction issue"},
      {bounds.latency,
       "exposed latency (occupancy limited by " + std::string(name(occupancy.limiter)) + ")"},
  }};
  return std::max_element(named.begin(), named.end(),
                          [](const auto& a, const auto& b) { return a.first < b.first; })
      ->second;
}

void fill_mix(const WarpWork& work, Facts& facts) {
  if (work.all <= 0.0) return;
  facts["fp32_share"] = work.fp32 / work.all;
  facts["integer_share"] = work.integer_instructions / work.all;
  facts["memory_share"] = work.memory / work.all;
  facts["branch_share"] = work.branches / work.all;
  facts["special_function_share"] = work.special_function / work.all;
  facts["shuffle_share"] = work.shuffle / work.all;
  facts["atomic_share"] = work.atomics / work.all;
  facts["barriers_per_warp"] = work.barriers;
  facts["thread_efficiency"] = work.active_lanes / kWarpLanes;
  if (work.global_loads > 0.0) facts["flops_per_global_load"] = work.fp32 / work.global_loads;
  if (work.global_load_requests > 0.0) {
    facts["global_load_sectors_per_request"] = work.global_load_sectors / work.global_load_requests;
    facts["global_load_bytes_per_thread"] = work.global_load_bytes / work.global_load_requests;
  }
  if (work.global_store_requests > 0.0) {
    facts["global_store_sectors_per_request"] =
        work.global_store_sectors / work.global_store_requests;
  }
  if (work.shared_requests > 0.0) {
    facts["shared_wavefronts_per_request"] = work.shared_wavefronts / work.shared_requests;
    facts["shared_conflict_share"] =
        std::max(0.0, 1.0 - work.shared_ideal_wavefronts / work.shared_wavefronts);
  }
}

}  // namespace

Prediction predict(const ModelInput& input, const DeviceSpec& device) {
  const WarpWork work = work_of(input.sample, merged_shares(input.program, input.sample));
  Prediction result;
  result.bounds = bounds_of(input, device, work);
  const TimeBounds& b = result.bounds;
  const double sm_side =
      p_norm({b.issue, b.fp32, b.fp64, b.integer, b.special_function, b.load_store, b.latency},
             device.sm_norm);
  const double busy =
      p_norm({sm_side, p_norm({b.l2, b.dram, b.atomics}, device.memory_norm)}, device.memory_norm);
  const double seconds = busy + device.kernel_launch_seconds;
  const double spread = assess_reliability(input, b, result.facts);
  result.time = {seconds, seconds * (1.0 - spread), seconds * (1.0 + spread), 1,
                 TimeMethod::predicted};
  result.bottleneck = bottleneck_of(b, input.occupancy);
  const double by_bytes = input.bytes ? *input.bytes / device.dram_bytes_per_second : 0.0;
  const double by_flops = input.flops ? *input.flops / device.peak_fp32_flops() : 0.0;
  result.roofline_seconds = std::max(by_bytes, by_flops);

  Facts& facts = result.facts;
  fill_mix(work, facts);
  facts["dram_utilization"] = b.dram / seconds;
  facts["atomic_utilization"] = b.atomics / seconds;
  facts["l2_utilization"] = b.l2 / seconds;
  facts["lsu_utilization"] = b.load_store / seconds;
  facts["fma_utilization"] = b.fp32 / seconds;
  facts["alu_utilization"] = b.integer / seconds;
  facts["issue_utilization"] = b.issue / seconds;
  facts["latency_share"] = std::min(1.0, b.latency / seconds);
  facts["occupancy"] = input.occupancy.fraction;
  using Limiter = Occupancy::Limiter;
  const Limiter limiter = input.occupancy.limiter;
  facts["limited_by_registers"] = limiter == Limiter::registers ? 1.0 : 0.0;
  facts["limited_by_shared_memory"] = limiter == Limiter::shared_memory ? 1.0 : 0.0;
  facts["limited_by_blocks"] = limiter == Limiter::blocks ? 1.0 : 0.0;
  facts["limited_by_warps"] = limiter == Limiter::warps ? 1.0 : 0.0;
  facts["registers_per_thread"] = input.resources.registers_per_thread;
  facts["spill_bytes"] = input.resources.spill_load_bytes + input.resources.spill_store_bytes;
  facts["shared_bytes_per_block"] = static_cast<double>(input.resources.static_shared_bytes) +
                                    static_cast<double>(input.launch.dynamic_shared_bytes);
  facts["threads_per_block"] = static_cast<double>(input.launch.block.count());
  facts["waves"] = static_cast<double>(input.launch.grid.count()) /
                   (static_cast<double>(device.sm_count) * input.occupancy.blocks_per_sm);
  if (input.traffic.l1_load_sectors > 0.0) {
    facts["l1_hit_rate"] = input.traffic.l1_hit_sectors / input.traffic.l1_load_sectors;
  }
  if (input.traffic.l2_read_bytes > 0.0) {
    facts["l2_hit_rate"] = input.traffic.l2_hit_bytes / input.traffic.l2_read_bytes;
  }
  const double dram_bytes = input.traffic.dram_read_bytes + input.traffic.dram_write_bytes;
  if (input.bytes && *input.bytes > 0.0)
    facts["dram_bytes_over_compulsory"] = dram_bytes / *input.bytes;
  if (input.flops && dram_bytes > 0.0) facts["arithmetic_intensity"] = *input.flops / dram_bytes;
  if (result.roofline_seconds > 0.0) facts["roofline_fraction"] = result.roofline_seconds / seconds;
  return result;
}

}  // namespace regraph
