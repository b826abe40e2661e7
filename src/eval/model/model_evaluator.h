// The evaluator for machines without a GPU: NVRTC compiles, the PTX interpreter verifies, the
// timing model predicts.
#pragma once

#include "eval/compile/compiled_plan.h"
#include "eval/compile/compiler.h"
#include "eval/evaluator.h"
#include "eval/model/device.h"
#include "eval/model/gathered_launch.h"
#include "eval/model/work_witness.h"
#include "eval/verify/verifier.h"

#include <mutex>
#include <string>

namespace regraph {

// How the machine code of `architecture` ("sm_90") may be counted: compiles a small kernel and
// looks whether its machine code is understood (sass/machine_code_check.h). Thread-safe.
[[nodiscard]] WorkCounting choose_counting(Compiler& compiler, const std::string& architecture);

// The prediction alone, for kernels that are taken to be correct. Several bench sizes give the
// geometric mean of their times; facts and bottleneck are the last size's. Times of several
// launches add up, bounds of the interval too; facts and bottleneck are then of the launch that
// takes longest, resources of the kernel that is optimised. A verdict other than correct says why
// there is no prediction. Thread-safe.
[[nodiscard]] Evaluation predict_time(const DeviceSpec& device, const Problem& problem,
                                      const CompiledPlan& compiled, const LaunchPlan& plan,
                                      const Cancellation& cancellation,
                                      WorkCounting counting = WorkCounting::machine_code);
// For plans that launch one kernel.
[[nodiscard]] Evaluation predict_time(const DeviceSpec& device, const Problem& problem,
                                      const CompiledKernel& compiled, const LaunchPlan& plan,
                                      const Cancellation& cancellation,
                                      WorkCounting counting = WorkCounting::machine_code);

class ModelEvaluator final : public Evaluator {
 public:
  // The references must outlive the evaluator. `verifier` must be of the problem that is evaluated.
  ModelEvaluator(Compiler& compiler, Verifier& verifier, DeviceSpec device);

  [[nodiscard]] Evaluation evaluate(const Problem& problem, const Candidate& candidate,
                                    const EvaluationBudget& budget,
                                    const Cancellation& cancellation) override;
  [[nodiscard]] bool may_work_ahead() const override { return true; }

 private:
  Evaluation judge(const Problem& problem, const Candidate& candidate,
                   const EvaluationBudget& budget, const Cancellation& cancellation);

  Compiler& compiler_;
  Verifier& verifier_;
  DeviceSpec device_;
  std::once_flag checked_;
  WorkCounting counting_ = WorkCounting::ptx;  // set once
  WorkWitness witness_;
};

}  // namespace regraph
