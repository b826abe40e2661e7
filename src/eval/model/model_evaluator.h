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
  void limit_threads(int threads) override { stages_.threads().limit(threads); }
  [[nodiscard]] Ahead may_work_ahead() const override { return Ahead::evaluation; }

 private:
  CandidateStages stages_;
};

}  // namespace regraph
