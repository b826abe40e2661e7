#include "eval/model/model_evaluator.h"

namespace regraph {

Evaluation ModelEvaluator::evaluate(const Candidate& candidate, const EvaluationBudget& budget,
                                    const Cancellation& cancellation) {
  const Deadline deadline(budget.wall_seconds, cancellation);
  const Cancellation& stop = deadline.cancellation();
  const ThreadBudget::Share calling = stages_.threads().enter();
  StagedCandidate staged;
  StageResult done = stages_.prepare(candidate, staged, stop);
  if (done) done = stages_.verify_and_predict(staged, budget, true, stop).first_failure();
  if (!done) reject(staged.evaluation, std::move(done).error());
  judge_by_time(staged.evaluation, deadline, budget.wall_seconds);
  return std::move(staged.evaluation);
}

}  // namespace regraph
