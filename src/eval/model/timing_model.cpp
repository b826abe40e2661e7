#include "eval/model/timing_model.h"

#include "eval/model/access_facts.h"
#include "eval/model/atomic_time.h"
#include "eval/model/critical_path.h"
#include "eval/model/load_latency.h"
#include "eval/model/local_memory.h"
#include "eval/model/machine_path.h"
#include "eval/model/machine_work.h"
#include "eval/model/merge_groups.h"
#include "eval/model/program_facts.h"
#include "eval/model/reliability.h"
#include "eval/model/work.h"
#include "sass/execution_counts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace regraph {
namespace {

// How much faster factors of 8 bits are multiplied than those of 16: on all data sheets.
constexpr double kByteSpeed = 2.0;

constexpr double kWarpLanes = 32.0;
constexpr double kSubCores = 4.0;
constexpr double kShuffleLanesPerClock = 32.0;

double p_norm(std::initializer_list<double> values, double p) {
  double sum = 0.0;
  for (const double value : values)
    sum += std::pow(value, p);
  return std::pow(sum, 1.0 / p);
}

// Of the busiest SM.
double resident_blocks(const ModelInput& input, const DeviceSpec& device) {
  const double blocks = std::ceil(static_cast<double>(input.launch.grid.count()) / device.sm_count);
  return std::min(blocks, static_cast<double>(input.occupancy.blocks_per_sm));
}

// Below these, machine code was not understood well enough to count in it. Judgements.
// Packed instructions do two at once; less than that was lost.
constexpr double kLeastCarriedOut = 0.4;
constexpr double kLeastMatchedMemory = 0.8;
constexpr double kMostUnknown = 0.02;

// What one warp does and how long it takes alone.
struct WarpTiming {
  const WarpWork& work;
  LocalTraffic local;
  double path_clocks = 0.0;
  bool in_machine_code = false;
};

LocalTraffic local_traffic_of(const ModelInput& input, const CountedWork& counted,
                              const DeviceSpec& device) {
  const double warps = input.occupancy.warps_per_block;
  const auto blocks = static_cast<double>(input.launch.grid.count());
  const std::int64_t shared = input.resources.static_shared_bytes +
                              static_cast<std::int64_t>(input.launch.dynamic_shared_bytes);
  LocalSharers sharers;
  sharers.sm_warps = resident_blocks(input, device) * warps;
  sharers.device_warps =
      std::min(blocks, static_cast<double>(device.sm_count) * input.occupancy.blocks_per_sm) *
      warps;
  sharers.all_warps = blocks * warps;
  sharers.l1_bytes = static_cast<double>(l1_bytes(device, input.occupancy, shared));
  return local_traffic(counted.local, sharers, device);
}

WarpTiming timing_of(const ModelInput& input, const CountedWork& counted,
                     const DeviceSpec& device) {
  LoadLatency latency = load_latency(
      input.traffic, device, resident_blocks(input, device) * input.occupancy.warps_per_block);
  const LocalTraffic local = local_traffic_of(input, counted, device);
  latency.local = local.load_clocks;
  const double path =
      counted.machine ? machine_path_clocks(*input.machine_code, *counted.machine, device, latency)
                      : critical_path_clocks(input.program, input.sample, device, latency);
  return {counted.work, local, path, counted.machine.has_value()};
}

TimeBounds bounds_of(const ModelInput& input, const DeviceSpec& device, const WarpTiming& timing) {
  const WarpWork& work = timing.work;
  TimeBounds bounds;
  const double blocks = static_cast<double>(input.launch.grid.count());
  const double sm_blocks = std::ceil(blocks / device.sm_count);  // of the busiest SM
  const double warps = sm_blocks * input.occupancy.warps_per_block;
  const double clock = device.clock_hertz;
  auto pipe = [&](double instructions, double lanes) {
    return instructions * warps * kWarpLanes / lanes / clock;
  };
  bounds.issue = work.issued * warps / kSubCores / clock;
  // Integer multiplications run on the FP32 pipe, on as many of its lanes as the integer pipe has.
  bounds.fp32 =
      timing.in_machine_code
          ? std::max(pipe(work.fp32 + work.integer_multiply, device.fp32_lanes),
                     pipe(work.integer_multiply, device.int32_lanes))
          : pipe(work.fp32, device.fp32_lanes) + pipe(work.integer_multiply, device.int32_lanes);
  // Tensor cores multiply doubles twice as fast as the fp64 pipe, a warp's 32 at a time.
  bounds.fp64 = pipe(work.fp64 + work.fp64_products / 64.0, device.fp64_lanes);
  bounds.integer = pipe(work.integer, device.int32_lanes);
  bounds.special_function = pipe(work.special_function, device.special_function_lanes);
  bounds.constant_loads = pipe(work.constant_loads, device.constant_load_lanes);
  bounds.tensor = (work.tf32_products / device.tensor_tf32_products +
                   work.half_products / device.tensor_half_products +
                   work.byte_products / (kByteSpeed * device.tensor_half_products)) *
                  warps / clock;
  const double lsu_scale = 128.0 / device.lsu_bytes_per_clock;
  bounds.load_store = (work.shared_wavefronts + work.global_passes / device.l1_path_share) *
                          lsu_scale * warps / clock +
                      pipe(work.shuffle, kShuffleLanesPerClock);
  const double waves =
      std::ceil(blocks / (static_cast<double>(device.sm_count) * input.occupancy.blocks_per_sm));
  bounds.latency = waves * (timing.path_clocks + device.block_launch_clocks) / clock;
  const LocalTraffic& local = timing.local;
  bounds.launch = blocks / device.blocks_per_second;
  const double partial = input.traffic.l2_partial_write_bytes;
  const double whole = input.traffic.l2_write_bytes - partial + local.l2_write_bytes;
  bounds.l2 = (input.traffic.l2_read_bytes + local.l2_read_bytes) / device.l2_bytes_per_second +
              whole / device.l2_write_bytes_per_second +
              partial / device.l2_partial_write_bytes_per_second;
  bounds.dram = (input.traffic.dram_read_bytes + input.traffic.dram_write_bytes +
                 local.dram_read_bytes + local.dram_write_bytes) /
                    device.dram_bytes_per_second +
                scattered_atomic_seconds(input.traffic.atomic_lone_dram_sectors, device);
  bounds.atomics = global_atomic_seconds(input.traffic.atomics, device);
  return bounds;
}

// Clocks of the busiest SM, in seconds.
double sm_side(const ModelInput& input, const DeviceSpec& device, const WarpTiming& timing,
               const TimeBounds& b) {
  if (!timing.in_machine_code) {
    return p_norm(
        {b.issue, b.fp32, b.fp64, b.integer, b.special_function, b.tensor, b.load_store, b.latency},
        device.sm_norm);
  }
  // Pipes work side by side on what was issued to them.
  const double arithmetic = std::max(
      {b.issue, b.fp32, b.fp64, b.integer, b.special_function, b.constant_loads, b.tensor});
  // Between barriers the warps of a block do the same at the same time, so that only other blocks
  // have something else to do: with one block nothing overlaps. In loops without barriers warps
  // drift apart.
  const double overlap =
      timing.work.barriers > 0.0
          ? 1.0 - timing.work.in_step / std::max(1.0, resident_blocks(input, device))
          : 1.0;
  return p_norm({arithmetic, b.load_store, b.latency}, 1.0 + (device.sm_norm - 1.0) * overlap);
}

double seconds_of(const ModelInput& input, const DeviceSpec& device, const WarpTiming& timing,
                  const TimeBounds& b) {
  const double memory = p_norm({b.l2, b.dram, b.atomics}, device.memory_norm);
  // Blocks are handed out while others run, so that this overlaps wholly.
  const double running = p_norm({sm_side(input, device, timing, b), memory}, device.memory_norm);
  return std::max(running, b.launch) + device.kernel_launch_seconds;
}

std::string bottleneck_of(const TimeBounds& bounds, const Occupancy& occupancy) {
  const std::array<std::pair<double, std::string>, 13> named = {{
      {bounds.dram, "DRAM bandwidth"},
      {bounds.l2, "L2 bandwidth"},
      {bounds.atomics, "global atomics that meet"},
      {bounds.launch, "launch of blocks"},
      {bounds.load_store, "load/store path (L1 and shared memory)"},
      {bounds.fp32, "FP32 arithmetic"},
      {bounds.fp64, "FP64 arithmetic"},
      {bounds.integer, "integer arithmetic"},
      {bounds.special_function, "special functions"},
      {bounds.constant_loads, "loads of constants"},
      {bounds.tensor, "tensor cores"},
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

// What the grid fills of the device, and what the device can do.
void fill_device(const ModelInput& input, const DeviceSpec& device, Facts& facts) {
  const auto blocks = static_cast<double>(input.launch.grid.count());
  const double waves =
      blocks / (static_cast<double>(device.sm_count) * input.occupancy.blocks_per_sm);
  facts["waves"] = waves;
  facts["warp_slots_filled"] = input.occupancy.fraction * std::min(1.0, waves);
  facts["blocks_per_multiprocessor"] = blocks / device.sm_count;
  if (const auto capability = compute_capability(device)) facts["compute_capability"] = *capability;
}

}  // namespace

CountedWork count_work(const ModelInput& input) {
  CountedWork counted;
  counted.in_ptx = work_of(input.sample, merged_shares(input.program, input.sample));
  counted.work = counted.in_ptx;
  if (input.machine_code == nullptr) return counted;
  sass::ExecutionCounts counts =
      sass::count_executions(*input.machine_code, input.program, input.sample);
  if (counts.matched_memory < kLeastMatchedMemory || counts.carried_out < kLeastCarriedOut ||
      counts.unknown > kMostUnknown) {
    return counted;
  }
  counted.work = machine_work(*input.machine_code, counts, input.sample, counted.in_ptx);
  counted.local = sass::local_reuse(*input.machine_code, counts, input.resources.stack_bytes);
  counted.machine = std::move(counts);
  return counted;
}

double predict_seconds(const ModelInput& input, const CountedWork& counted,
                       const DeviceSpec& device) {
  const WarpTiming timing = timing_of(input, counted, device);
  return seconds_of(input, device, timing, bounds_of(input, device, timing));
}

namespace {

// Operations a second that the kernel could do at most, with the units that it multiplies with.
double peak_flops_of(const WarpWork& work, const DeviceSpec& device) {
  const double products = work.byte_products > 0.0   ? kByteSpeed * device.tensor_half_products
                          : work.half_products > 0.0 ? device.tensor_half_products
                          : work.tf32_products > 0.0 ? device.tensor_tf32_products
                                                     : 0.0;
  const double rate = products * (work.has_warpgroups ? kWarpgroupSpeed : 1.0);
  return std::max(device.peak_fp32_flops(), 2.0 * rate * device.sm_count * device.clock_hertz);
}

}  // namespace

Prediction predict(const ModelInput& input, const DeviceSpec& device) {
  const CountedWork counted = count_work(input);
  const WarpWork& work = counted.in_ptx;
  const WarpTiming timing = timing_of(input, counted, device);
  Prediction result;
  result.counted_in_machine_code = timing.in_machine_code;
  result.bounds = bounds_of(input, device, timing);
  const TimeBounds& b = result.bounds;
  const double seconds = seconds_of(input, device, timing, b);
  const double spread = assess_reliability(input, b, !timing.in_machine_code, result.facts);
  result.time = {seconds, seconds * (1.0 - spread), seconds * (1.0 + spread), 1,
                 TimeMethod::predicted};
  result.bottleneck = bottleneck_of(b, input.occupancy);
  const double by_bytes = input.bytes ? *input.bytes / device.dram_bytes_per_second : 0.0;
  result.peak_flops = peak_flops_of(work, device);
  const double by_flops = input.flops ? *input.flops / result.peak_flops : 0.0;
  result.roofline_seconds = std::max(by_bytes, by_flops);

  Facts& facts = result.facts;
  fill_mix(work, facts);
  fill_access_facts(input.sample, merged_shares(input.program, input.sample), facts);
  fill_program_facts(input.program, input.sample, facts);
  fill_device(input, device, facts);
  facts["dram_utilization"] = b.dram / seconds;
  facts["atomic_utilization"] = b.atomics / seconds;
  facts["l2_utilization"] = b.l2 / seconds;
  facts["lsu_utilization"] = b.load_store / seconds;
  facts["fma_utilization"] = b.fp32 / seconds;
  if (b.tensor > 0.0) facts["tensor_utilization"] = b.tensor / seconds;
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
  if (input.traffic.l1_load_sectors > 0.0) {
    facts["l1_hit_rate"] = input.traffic.l1_hit_sectors / input.traffic.l1_load_sectors;
  }
  if (input.traffic.l2_read_bytes > 0.0) {
    facts["l2_hit_rate"] = input.traffic.l2_hit_bytes / input.traffic.l2_read_bytes;
  }
  const double dram_bytes = input.traffic.dram_read_bytes + input.traffic.dram_write_bytes;
  if (input.bytes && *input.bytes > 0.0)
    facts["dram_bytes_over_compulsory"] = dram_bytes / *input.bytes;
  const double grid_warps =
      static_cast<double>(input.launch.grid.count()) * input.occupancy.warps_per_block;
  if (input.traffic.dram_read_bytes > 0.0 && work.global_load_requests > 0.0) {
    facts["global_load_reuse"] =
        work.global_load_bytes * work.active_lanes * grid_warps / input.traffic.dram_read_bytes;
  }
  if (input.flops && dram_bytes > 0.0) facts["arithmetic_intensity"] = *input.flops / dram_bytes;
  if (result.roofline_seconds > 0.0) facts["roofline_fraction"] = result.roofline_seconds / seconds;
  return result;
}

}  // namespace regraph
