// What the timing model has to know about a launch, learnt once by running parts of it. Predictions
// from it take microseconds, so that many devices, or many guesses at one, can be tried.
#pragma once

#include "base/cancellation.h"
#include "eval/compile/compiled_plan.h"
#include "eval/model/sampling.h"
#include "eval/model/timing_model.h"
#include "eval/verify/loaded_plan.h"
#include "kernel/evaluation.h"
#include "kernel/problem.h"

#include <memory>
#include <optional>
#include <variant>
#include <vector>

namespace regraph {

struct GatheredLaunch {
  const ptx::Program* program = nullptr;  // of the loaded plan, which must outlive this
  LaunchSample sample;
  ResourceUsage resources;
  ConcreteLaunch launch;
  Occupancy occupancy;
  std::optional<double> flops;  // as in ModelInput
  std::optional<double> bytes;

  // Refers to this object.
  [[nodiscard]] ModelInput input() const;
};

// Samples one launch at one size. Of `device` the SMs, their residency limits and the sizes of the
// caches count, not how fast anything is. An Evaluation says why there is nothing to predict from.
// Thread-safe.
[[nodiscard]] std::variant<GatheredLaunch, Evaluation> gather_launch(
    const DeviceSpec& device, const Problem& problem, const verify::LoadedLaunch& loaded,
    const ResourceUsage& resources, const Symbols& symbols, const Cancellation& cancellation);

// All launches of a plan at all bench sizes of a problem. Movable; const functions are thread-safe.
class GatheredPlan {
 public:
  // As gather_launch.
  [[nodiscard]] static std::variant<GatheredPlan, Evaluation> gather(
      const DeviceSpec& device, const Problem& problem, const CompiledPlan& compiled,
      const LaunchPlan& plan, const Cancellation& cancellation);

  // Predicted seconds on `device`: what predict_time gives, the geometric mean over the bench sizes
  // of the sum over the launches. SMs, residency limits and cache sizes of `device` should be those
  // that were gathered for.
  [[nodiscard]] double seconds(const DeviceSpec& device) const;

 private:
  GatheredPlan() = default;
  std::unique_ptr<verify::LoadedPlan> loaded_;  // launches point into it
  std::vector<std::vector<GatheredLaunch>> sizes_;
};

}  // namespace regraph
