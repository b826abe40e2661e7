// An evaluator whose work is done by the workers of a fleet.
//
//   evaluate ──> job ──> JobQueue::ask ──> answer ──> Evaluation
//      │                                     │ trouble, or too large to travel
//      └── confirmations ────────────────────┴──> here
#pragma once

#include "eval/evaluator.h"
#include "fleet/evaluation_job.h"
#include "fleet/problem_text.h"
#include "fleet/queue/job_queue.h"

#include <atomic>
#include <functional>
#include <mutex>
#include <set>
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
  // Told, in words, what a user should know: a worker that could not or that lies. May be empty.
  std::function<void(const std::string&)> report;
};

// Predictions. Evaluation is deterministic, so it does not matter which worker it was; and what a
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

  struct Statistics {
    std::uint64_t remote = 0;     // evaluations by workers
    std::uint64_t local = 0;      // here, checks aside
    std::uint64_t checked = 0;    // evaluated here, too
    std::uint64_t differing = 0;  // of these: an answer that was not what it is here
  };
  [[nodiscard]] Statistics statistics() const;

 private:
  [[nodiscard]] bool is_original(const Candidate& candidate) const;
  [[nodiscard]] bool is_checked(const Job& job) const;
  // What it is here; held against what a worker said of it before.
  [[nodiscard]] Evaluation confirm(const Candidate& candidate, const EvaluationBudget& budget,
                                   const Cancellation& cancellation);
  // What it is here, where the worker's answer is to be compared with it.
  [[nodiscard]] Evaluation checked(Evaluation remote, const std::string& worker,
                                   const Candidate& candidate, const EvaluationBudget& budget,
                                   const Cancellation& cancellation);
  [[nodiscard]] Evaluation evaluate_here(const Candidate& candidate, const EvaluationBudget& budget,
                                         const Cancellation& cancellation);
  // Errors: cancelled, else what keeps the fleet from being of use.
  [[nodiscard]] Status keep_problem(const Cancellation& cancellation);
  void forget_problem();
  [[nodiscard]] Status hand_over(const Cancellation& cancellation);
  void report_once(const std::string& text);
  // From now on everything is evaluated here, too.
  void distrust(const std::string& worker, const Evaluation& remote, const Evaluation& here);

  JobQueue& queue_;
  Evaluator& here_;
  const FleetEvaluatorOptions options_;
  const std::uint64_t secret_;  // that checks are chosen with
  std::mutex keeping_;
  bool problem_kept_ = false;
  struct Said {
    std::string worker;
    Evaluation evaluation;
    EvaluationBudget budget;
  };
  std::mutex mutex_;
  std::set<std::string> reported_;
  std::unordered_map<Hash128, Said> said_;  // of candidates that a worker called correct
  std::atomic<bool> distrusts_ = false;
  std::atomic<std::uint64_t> remote_ = 0;
  std::atomic<std::uint64_t> local_ = 0;
  std::atomic<std::uint64_t> checked_ = 0;
  std::atomic<std::uint64_t> differing_ = 0;
};

}  // namespace regraph::fleet
