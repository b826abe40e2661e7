#include "eval/shared/shared_evaluator.h"

#include <chrono>

namespace regraph {

namespace {

constexpr std::chrono::milliseconds kPoll{20};

Hash128 key_of(const Candidate& candidate, const EvaluationBudget& budget) {
  return Hasher()
      .add(candidate.source)
      .add(candidate.plan.text())
      .add(budget.seed)
      .add(static_cast<std::uint64_t>(budget.repetitions))
      .finish();
}

Evaluation cancelled() {
  Evaluation evaluation;
  evaluation.verdict = Verdict::timeout;
  evaluation.message = "cancelled before it was evaluated";
  return evaluation;
}

}  // namespace

Evaluation SharedEvaluator::prepare(const Candidate& candidate, const EvaluationBudget& budget,
                                    const Cancellation& cancellation) {
  if (!enter(cancellation)) return cancelled();
  const Turn turn{*this};
  return inner_.prepare(candidate, budget, cancellation);
}

bool SharedEvaluator::enter(const Cancellation& cancellation) {
  std::unique_lock lock(mutex_);
  while (running_ >= concurrent_) {
    if (cancellation.requested()) return false;
    turn_.wait_for(lock, kPoll);
  }
  ++running_;
  return true;
}

void SharedEvaluator::leave() {
  {
    const std::lock_guard lock(mutex_);
    --running_;
  }
  turn_.notify_one();
}

Evaluation SharedEvaluator::evaluate(const Candidate& candidate, const EvaluationBudget& budget,
                                     const Cancellation& cancellation) {
  const bool screening = budget.effort == EvaluationBudget::Effort::screening;
  const Hash128 key = key_of(candidate, budget);
  if (screening) {
    const std::lock_guard lock(mutex_);
    if (const auto known = results_.find(key); known != results_.end()) {
      ++recalled_;
      return known->second;
    }
  }
  if (!enter(cancellation)) return cancelled();
  const Turn turn{*this};
  Evaluation evaluation = inner_.evaluate(candidate, budget, cancellation);
  const bool lasting = !cancellation.requested() && evaluation.verdict != Verdict::timeout;
  if (screening && lasting) {
    const std::lock_guard lock(mutex_);
    if (results_.emplace(key, evaluation).second) order_.push_back(key);
    if (order_.size() > kRemembered) {
      results_.erase(order_.front());
      order_.pop_front();
    }
  }
  return evaluation;
}

double SharedEvaluator::longest_seconds(const EvaluationBudget& budget, int calls) const {
  const int rounds = (calls + concurrent_ - 1) / concurrent_;
  return inner_.longest_seconds(budget, concurrent_) * (rounds < 1 ? 1 : rounds);
}

int SharedEvaluator::recalled() const {
  const std::lock_guard lock(mutex_);
  return recalled_;
}

}  // namespace regraph
