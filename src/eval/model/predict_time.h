// The predicted time of a plan's launches at the bench sizes.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "eval/compile/compiled_plan.h"
#include "eval/compile/compiler.h"
#include "eval/model/device.h"
#include "eval/model/gathered_launch.h"
#include "eval/model/timing_model.h"
#include "eval/rejection.h"
#include "eval/verify/loaded_plan.h"
#include "kernel/problem.h"

#include <string>

namespace regraph {

// How the machine code of `architecture` ("sm_90") may be counted: compiles a small kernel and
// looks whether its machine code is understood (sass/machine_code_check.h). Thread-safe.
[[nodiscard]] WorkCounting choose_counting(Compiler& compiler, const std::string& architecture);

// The prediction alone, for kernels that are taken to be correct. Several bench sizes give the
// geometric mean of their times; facts and bottleneck are the last size's. Times of several
// launches add up, bounds of the interval too; facts and bottleneck are then of the launch that
// takes longest. A Rejection says why there is no prediction. `threads` as in sample_launch.
// Thread-safe.
[[nodiscard]] Result<Prediction, Rejection> predict_time(
    const DeviceSpec& device, const Problem& problem, const CompiledPlan& compiled,
    const verify::LoadedPlan& loaded, const Cancellation& cancellation,
    WorkCounting counting = WorkCounting::machine_code, ThreadBudget* threads = nullptr);
// Loads the plan first.
[[nodiscard]] Result<Prediction, Rejection> predict_time(
    const DeviceSpec& device, const Problem& problem, const CompiledPlan& compiled,
    const LaunchPlan& plan, const Cancellation& cancellation,
    WorkCounting counting = WorkCounting::machine_code);

}  // namespace regraph
