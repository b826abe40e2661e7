// The evaluator for machines without a GPU: NVRTC compiles, the PTX interpreter verifies, the timing
// model predicts.
#pragma once

#include "eval/compile/compiler.h"
#include "eval/evaluator.h"
#include "eval/model/device.h"
#include "eval/verify/verifier.h"

namespace regraph {

class ModelEvaluator final : public Evaluator {
 public:
  // The references must outlive the evaluator.
  ModelEvaluator(Compiler& compiler, Verifier& verifier, DeviceSpec device);

  [[nodiscard]] Evaluation evaluate(const Problem& problem, const Candidate& candidate,
                                    const EvaluationBudget& budget,
                                    const Cancellation& cancellation) override;

  // The prediction alone, for a kernel that is taken to be correct. Several bench sizes give the
  // geometric mean of their times. An error verdict says why there is none.
  [[nodiscard]] Evaluation predict_time(const Problem& problem, const CompiledKernel& compiled,
                                        const LaunchPlan& plan, const Cancellation& cancellation) const;

 private:
  Compiler& compiler_;
  Verifier& verifier_;
  DeviceSpec device_;
};

}  // namespace regraph
