// Hardware counters in the vocabulary of kernel/facts.h, what limits the kernel in words, and
// whether it did its work. Pure.
#pragma once

#include "eval/gpu/counters/counter_collector.h"
#include "kernel/facts.h"

#include <optional>
#include <string>
#include <vector>

namespace regraph::gpu {

// What the counters are read against; 0 when not known.
struct CounterContext {
  double compulsory_bytes = 0.0;                  // that must move between DRAM and the SMs
  double achievable_dram_bytes_per_second = 0.0;  // of a copy; else the counter's own peak is used
  double max_warps_per_sm = 64.0;                 // 48 on sm_86, sm_89 and sm_120
};

// Facts of one collection. Facts whose counters are missing are absent. Utilizations are of the
// whole duration: CUPTI's "of peak while active" times the active share. Shares of stalls are
// warp-cycles stalled for a reason over warp-cycles in flight. Never NaN.
[[nodiscard]] Facts counter_facts(const CounterValues& counters,
                                  const CounterContext& context = {});

// From this utilization on a unit is what limits a kernel; below, latency is. The same limit as in
// Nsight Compute's speed-of-light rule.
inline constexpr double kBusyUnit = 0.6;

// What limits the kernel, in the words of the timing model, e.g. "DRAM bandwidth" or "exposed
// latency (waiting for global memory)". Empty when the facts do not tell.
[[nodiscard]] std::string counter_bottleneck(const Facts& facts);

// The least a correct launch on cold caches can do.
struct RequiredWork {
  double input_bytes = 0.0;                    // that every correct kernel must read
  double output_bytes = 0.0;                   // that the original writes
  std::optional<double> flops = std::nullopt;  // where the manifest says so
};

// The input bytes that every correct kernel must read: all, but no more than is left of the bytes
// that must move according to the manifest, where it gives them, once the outputs are written: what
// a mask hides need not be read.
[[nodiscard]] double required_input_bytes(double input_bytes, double output_bytes,
                                          std::optional<double> moved_bytes);

// Counters as witnesses that a candidate did its work: reads from DRAM, writes to the L2 and
// executed instructions, against what the task requires and what the original did. Returns what is
// suspicious, in words; empty when nothing is. Counters of both must come from cold caches.
[[nodiscard]] std::vector<std::string> missing_work(const CounterValues& candidate,
                                                    const CounterValues& original,
                                                    const RequiredWork& required);

}  // namespace regraph::gpu
