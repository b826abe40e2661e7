// What the timing model has to know about a launch, learnt once by running parts of it. Predictions
// from it take microseconds, so that many devices, or many guesses at one, can be tried.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "eval/compile/compiled_plan.h"
#include "eval/model/sampling.h"
#include "eval/model/timing_model.h"
#include "eval/rejection.h"
#include "eval/verify/loaded_plan.h"
#include "kernel/problem.h"
#include "sass/machine_code.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace regraph {

// What the work of a kernel is counted in.
enum class WorkCounting : std::uint8_t {
  machine_code,  // where it can be read and fits the PTX; else as below
  ptx,
};

// A kernel as compiled, and its machine code when work is to be counted in it and it can be read.
struct KernelBinary {
  std::shared_ptr<const CompiledKernel> kernel;
  std::optional<sass::MachineCode> code;
};

// One a launch.
[[nodiscard]] std::vector<KernelBinary> read_binaries(const CompiledPlan& compiled,
                                                      WorkCounting counting);

struct GatheredLaunch {
  const ptx::Program* program = nullptr;  // of the loaded plan, which must outlive this
  LaunchSample sample;
  const KernelBinary* binary = nullptr;  // must outlive this, too
  ConcreteLaunch launch;
  Occupancy occupancy;
  std::optional<double> flops;  // as in ModelInput
  std::optional<double> bytes;

  // Refers to this object.
  [[nodiscard]] ModelInput input() const;
};

// Samples one launch at one size. Of `device` the SMs, their residency limits and the sizes of the
// caches count, not how fast anything is. A Rejection says why there is nothing to predict from.
// `threads` as in sample_launch. Thread-safe.
[[nodiscard]] Result<GatheredLaunch, Rejection> gather_launch(
    const DeviceSpec& device, const Problem& problem, const verify::LoadedLaunch& loaded,
    const KernelBinary& binary, const Symbols& symbols, const Cancellation& cancellation,
    ThreadBudget* threads = nullptr);

// All launches of a plan at all bench sizes of a problem. Movable; const functions are thread-safe.
class GatheredPlan {
 public:
  // As gather_launch.
  [[nodiscard]] static Result<GatheredPlan, Rejection> gather(
      const DeviceSpec& device, const Problem& problem, const CompiledPlan& compiled,
      const LaunchPlan& plan, const Cancellation& cancellation,
      WorkCounting counting = WorkCounting::machine_code);

  // Predicted seconds on `device`: what predict_time gives, the geometric mean over the bench sizes
  // of the sum over the launches. SMs, residency limits and cache sizes of `device` should be those
  // that were gathered for.
  [[nodiscard]] double seconds(const DeviceSpec& device) const;

 private:
  struct CountedLaunch {
    GatheredLaunch gathered;
    CountedWork work;
  };

  GatheredPlan() = default;
  // Launches point into these.
  std::unique_ptr<verify::LoadedPlan> loaded_;
  std::vector<KernelBinary> binaries_;
  std::vector<std::vector<CountedLaunch>> sizes_;
};

}  // namespace regraph
