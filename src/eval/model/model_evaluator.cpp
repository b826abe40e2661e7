#include "eval/model/model_evaluator.h"

#include <tbb/parallel_invoke.h>

#include <atomic>

namespace regraph {

namespace {

// One more thread is in use as long as this lives.
class ThreadCount {
 public:
  explicit ThreadCount(std::atomic<int>& threads)
      : threads_(threads), before_(threads.fetch_add(1)) {}
  ~ThreadCount() { --threads_; }
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;
  // In use without this one.
  [[nodiscard]] int before() const { return before_; }

 private:
  std::atomic<int>& threads_;
  const int before_;
};

}  // namespace

Evaluation ModelEvaluator::evaluate(const Candidate& candidate, const EvaluationBudget& budget,
                                    const Cancellation& cancellation) {
  const Deadline deadline(budget.wall_seconds, cancellation);
  const Cancellation& stop = deadline.cancellation();
  const ThreadCount calling(threads_);
  StagedCandidate staged;
  StageResult done = stages_.prepare(candidate, staged, stop);
  if (done) done = verify_and_predict(staged, budget, stop);
  if (!done) reject(staged.evaluation, std::move(done).error());
  judge_by_time(staged.evaluation, deadline, budget.wall_seconds);
  return std::move(staged.evaluation);
}

// Predicting needs nothing that verifying finds out: where a thread is to be had it does the one
// while this one does the other. What is returned is the same either way.
StageResult ModelEvaluator::verify_and_predict(StagedCandidate& staged,
                                               const EvaluationBudget& budget,
                                               const Cancellation& stop) {
  StagedCandidate predicted;
  predicted.prepared = staged.prepared;
  predicted.evaluation = staged.evaluation;
  StageResult verification;
  StageResult prediction;
  StageResult comparison;
  std::atomic<bool> wrong{false};
  const auto verify = [&] {
    verification = stages_.verify(staged, budget.seed, stop);
    wrong = !verification;
    if (verification) comparison = stages_.verify_bench(staged, budget, stop);
  };
  const auto predict = [&] {
    if (!wrong) prediction = stages_.predict(predicted, stop);
  };
  {
    const ThreadCount helper(threads_);
    if (helper.before() < most_threads_) {
      tbb::parallel_invoke(verify, predict);
    } else {
      verify();
      predict();
    }
  }
  if (!verification) return verification;
  if (!prediction) return prediction;
  staged.evaluation = std::move(predicted.evaluation);
  return comparison;
}

}  // namespace regraph
