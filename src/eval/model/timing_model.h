// Closed-form timing model: what each resource of the GPU would need by itself, combined.
//
//   SM side    issue, FP32, integer, special functions, FP64, load/store path, exposed latency:
//              work of the busiest SM in clocks, combined by a p-norm, p = device.sm_norm
//   memory     L2 and DRAM bytes of the whole grid over the bandwidths, and global atomics where
//              they meet, combined with p = device.memory_norm
//   time       p-norm (memory_norm) of the two sides, or what handing out the blocks takes if that
//              is longer, plus the launch
//
// Work is counted in machine code where it is given and understood (sass/execution_counts.h), else
// estimated from PTX.
//
// Overlap is never perfect, which a p-norm expresses: two equal bounds cost 2^(1/p) times one. The
// exponents, 2 and 4, were chosen on eight of the kernels measured on an H200; docs/simulator.md
// holds the errors, calibration/ fits them anew.
#pragma once

#include "base/result.h"
#include "eval/model/device.h"
#include "eval/model/occupancy.h"
#include "eval/model/work.h"
#include "kernel/evaluation.h"
#include "kernel/launch_plan.h"
#include "ptx/caches/cache_simulation.h"
#include "ptx/interpreter.h"
#include "sass/execution_counts.h"
#include "sass/local_reuse.h"
#include "sass/machine_code.h"

#include <optional>
#include <string>

namespace regraph {

struct ModelInput {
  const ptx::Program& program;
  const ptx::Profile& sample;        // counters of some blocks of the launch
  const ptx::CacheTraffic& traffic;  // of the whole grid
  ResourceUsage resources;
  ConcreteLaunch launch;
  Occupancy occupancy;
  std::optional<double> flops;  // useful work, for the roofline
  std::optional<double> bytes;  // that must move
  // Of the same kernel; null: work is counted in PTX.
  const sass::MachineCode* machine_code = nullptr;
  double spread_error = 0.0;  // as in LaunchSample
};

// Seconds each bound needs by itself.
struct TimeBounds {
  double issue = 0.0;
  double fp32 = 0.0;
  double fp64 = 0.0;
  double integer = 0.0;
  double special_function = 0.0;
  double constant_loads = 0.0;
  double tensor = 0.0;
  double load_store = 0.0;
  double latency = 0.0;
  double l2 = 0.0;
  double dram = 0.0;
  double atomics = 0.0;  // global ones, at the L2
  double launch = 0.0;   // of the grid's blocks, by the rate at which they are handed out
};

struct Prediction {
  TimeEstimate time;  // method predicted
  TimeBounds bounds;
  std::string bottleneck;         // the largest bound, in words
  double roofline_seconds = 0.0;  // 0 when neither flops nor bytes are known
  double peak_flops = 0.0;        // per second, of the units that the kernel multiplies with
  // False: there was no machine code, or it did not fit the PTX.
  bool counted_in_machine_code = false;
  Facts facts;
};

// What a launch does, whatever the device: the part of a prediction that can be kept.
struct CountedWork {
  WarpWork in_ptx;
  WarpWork work;  // as it counts: of the machine code where that was understood, else in_ptx
  std::optional<sass::ExecutionCounts> machine;  // none: it was not, or there is none
  sass::LocalReuse local;  // of the machine code; empty where that does not count
};
[[nodiscard]] CountedWork count_work(const ModelInput& input);

// The time that predict gives, of a launch counted before. `counted` must be of `input`.
[[nodiscard]] double predict_seconds(const ModelInput& input, const CountedWork& counted,
                                     const DeviceSpec& device);

// Never fails: the input was checked when it was made.
[[nodiscard]] Prediction predict(const ModelInput& input, const DeviceSpec& device);

// Half width of the interval around a prediction, as a fraction.
inline constexpr double kPredictionUncertainty = 0.20;
// When the cache simulation was cut short and nothing else is amiss (reliability.h).
inline constexpr double kTruncatedUncertainty = 0.30;

}  // namespace regraph
