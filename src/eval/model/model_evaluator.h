// The evaluator for machines without a GPU: NVRTC compiles, the PTX interpreter verifies, the
// timing model predicts.
#pragma once

#include "eval/evaluator.h"
#include "eval/model/candidate_stages.h"

#include <utility>

namespace regraph {

class ModelEvaluator final : public Evaluator {
 public:
  // The references must outlive the evaluator; `verifier` must be of `problem`.
  ModelEvaluator(const Problem& problem, Compiler& compiler, Verifier& verifier, DeviceSpec device)
      : stages_(problem, compiler, verifier, std::move(device)) {}

  [[nodiscard]] Evaluation evaluate(const Candidate& candidate, const EvaluationBudget& budget,
                                    const Cancellation& cancellation) override;
  [[nodiscard]] bool may_work_ahead() const override { return true; }

 private:
  CandidateStages stages_;
};

}  // namespace regraph
