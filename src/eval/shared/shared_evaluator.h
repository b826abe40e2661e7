// One evaluator for many callers.
#pragma once

#include "eval/evaluator.h"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <unordered_map>

namespace regraph {

// Passes calls on, at most `concurrent` at once: threads that mostly wait for something else may
// then be many without as many compilers and interpreters running. Remembers what screenings found,
// so that a candidate which an expander has looked at costs the search nothing more. Thread-safe.
class SharedEvaluator final : public Evaluator {
 public:
  // Results kept; the oldest go first. A candidate is asked for again soon or never.
  static constexpr std::size_t kRemembered = 512;

  // `inner` must outlive this. `concurrent` is at least 1.
  SharedEvaluator(Evaluator& inner, int concurrent) : inner_(inner), concurrent_(concurrent) {}

  // Waits for its turn; when cancelled meanwhile: Verdict::timeout with a message. What was
  // cancelled or ended by a time limit is not remembered.
  [[nodiscard]] Evaluation evaluate(const Candidate& candidate, const EvaluationBudget& budget,
                                    const Cancellation& cancellation) override;
  [[nodiscard]] double longest_seconds(const EvaluationBudget& budget, int calls) const override;
  void limit_threads(int threads) override { inner_.limit_threads(threads); }
  [[nodiscard]] Ahead may_work_ahead() const override { return inner_.may_work_ahead(); }
  // Waits for its turn as evaluate() does.
  [[nodiscard]] Evaluation prepare(const Candidate& candidate, const EvaluationBudget& budget,
                                   const Cancellation& cancellation) override;

  // Calls that were answered from memory.
  [[nodiscard]] int recalled() const;

 private:
  // Its turn ends with it.
  struct Turn {
    SharedEvaluator& owner;
    ~Turn() { owner.leave(); }
  };
  [[nodiscard]] bool enter(const Cancellation& cancellation);
  void leave();

  Evaluator& inner_;
  const int concurrent_;
  mutable std::mutex mutex_;
  std::condition_variable turn_;
  int running_ = 0;
  int recalled_ = 0;
  std::unordered_map<Hash128, Evaluation> results_;
  std::deque<Hash128> order_;
};

}  // namespace regraph
