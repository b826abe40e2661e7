// The seam between the search and whatever judges a candidate.
#pragma once

#include "base/cancellation.h"
#include "kernel/candidate.h"
#include "kernel/evaluation.h"

#include <cstdint>

namespace regraph {

struct EvaluationBudget {
  // screening: verify and time as the search does on a first visit.
  // confirmation: a finalist again, verified with fresh inputs drawn from `seed`, timed with
  // `repetitions` samples.
  enum class Effort : std::uint8_t { screening, confirmation };
  Effort effort = Effort::screening;
  std::uint64_t seed = 0;
  int repetitions = 1;
  double wall_seconds = 180.0;  // give up with Verdict::timeout after this
  // Measured over predicted time (fact predicted_seconds) of the candidate's nearest ancestor that
  // was measured; 0 where there is none. A prediction that stands in for a measurement is first
  // multiplied by it, else one kind of time would be compared with the other.
  double measured_over_predicted = 0.0;
};

// Compiles, verifies, times and profiles candidates of the one problem that it was made for. Never
// throws for a bad candidate: the verdict says what was wrong. Called from worker threads, several
// calls at once; must be thread-safe and, when its method is `predicted`, deterministic in
// (candidate, budget).
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  [[nodiscard]] virtual Evaluation evaluate(const Candidate& candidate,
                                            const EvaluationBudget& budget,
                                            const Cancellation& cancellation) = 0;

  // How long a call may last when `calls` of them run at once: longer than the budget says where
  // they have to wait for each other.
  [[nodiscard]] virtual double longest_seconds(const EvaluationBudget& budget, int calls) const {
    (void)calls;
    return budget.wall_seconds;
  }

  // The threads of this machine that all calls together may use: where fewer calls run, one may
  // use several. Changes how long calls take, never what they return. Before any call.
  virtual void limit_threads(int threads) { (void)threads; }

  // What may be done for a candidate that nobody may ever ask for.
  enum class Ahead : std::uint8_t {
    nothing,
    preparation,  // prepare(); evaluate() needs more than processor time, or is not deterministic
    evaluation,   // evaluate(): it is deterministic and costs processor time only
  };
  [[nodiscard]] virtual Ahead may_work_ahead() const { return Ahead::nothing; }

  // Does, and keeps for a while, what evaluate() with the same candidate and budget would begin
  // with. Returns how that would judge it, as far as can be told: a rejection will be the same, a
  // time is predicted. May be called while evaluate() runs.
  [[nodiscard]] virtual Evaluation prepare(const Candidate& candidate,
                                           const EvaluationBudget& budget,
                                           const Cancellation& cancellation) {
    (void)candidate, (void)budget, (void)cancellation;
    return {};
  }
};

}  // namespace regraph
