// An evaluator whose work is done by the workers of a fleet.
//
//   evaluate ──> job ──> JobQueue::ask ──> answer ──> Evaluation
//      │                                     │ trouble, or too large to travel
//      └── confirmations ────────────────────┴──> here
#pragma once

#include "eval/evaluator.h"
#include "fleet/evaluation_job.h"
#include "fleet/problem_desk.h"
#include "fleet/problem_text.h"
#include "fleet/queue/job_queue.h"
#include "fleet/spot_check.h"

#include <mutex>
#include <string>
#include <unordered_map>

namespace regraph::fleet {

struct FleetEvaluatorOptions {
  std::string lane;
  ProblemText problem;
  Candidate original;  // what speedups are held against
  // Of how many candidates one is evaluated here, too, and compared; 0: none. Workers cannot tell
  // which.
  int checked_share = 16;
  FleetReport report;  // told of workers that could not or that lie
};

// Predictions. Evaluation is deterministic, so it does not matter which worker it was; and what the
// original takes, what a finalist is confirmed by, and a share of all else, is found out here, too,
// so that no worker's word alone carries an answer.
// Thread-safe.
class FleetEvaluator final : public Evaluator {
 public:
  // Both must outlive this.
  FleetEvaluator(JobQueue& queue, Evaluator& here, FleetEvaluatorOptions options);

  [[nodiscard]] Evaluation evaluate(const Candidate& candidate, const EvaluationBudget& budget,
                                    const Cancellation& cancellation) override;
  // Workers may be away for hours: a search waits.
  [[nodiscard]] double longest_seconds(const EvaluationBudget& budget, int calls) const override;
  // As many as a fleet has places are more than this machine may have processors.
  void limit_threads(int threads) override;
  [[nodiscard]] Ahead may_work_ahead() const override { return here_.may_work_ahead(); }

  [[nodiscard]] FleetCounts statistics() const { return spot_check_.counts(); }

 private:
  [[nodiscard]] bool is_original(const Candidate& candidate) const;
  // What it is here; held against what a worker said of it before.
  [[nodiscard]] Evaluation confirm(const Candidate& candidate, const EvaluationBudget& budget,
                                   const Cancellation& cancellation);
  // What it is here, where the worker's answer is to be compared with it.
  [[nodiscard]] Evaluation checked(Evaluation remote, const std::string& worker,
                                   const Candidate& candidate, const EvaluationBudget& budget,
                                   const Cancellation& cancellation);
  [[nodiscard]] Evaluation evaluate_here(const Candidate& candidate, const EvaluationBudget& budget,
                                         const Cancellation& cancellation);
  // From now on everything is evaluated here, too.
  void distrust(const std::string& worker, const Evaluation& remote, const Evaluation& here);

  Evaluator& here_;
  const FleetEvaluatorOptions options_;
  ProblemDesk desk_;
  SpotCheck spot_check_;
  struct Said {
    std::string worker;
    Evaluation evaluation;
    EvaluationBudget budget;
  };
  std::mutex mutex_;
  std::unordered_map<Hash128, Said> said_;  // of candidates that a worker called correct
};

}  // namespace regraph::fleet
