#include "eval/gpu/prepared_store.h"

#include <utility>

namespace regraph::gpu {

Hash128 PreparedStore::key_of(const Candidate& candidate, const EvaluationBudget& budget) {
  return Hasher().add(candidate.source).add(candidate.plan.text()).add(budget.seed).finish();
}

void PreparedStore::put(const Hash128& key, JudgedHere judged) {
  const std::lock_guard lock(mutex_);
  if (prepared_.insert_or_assign(key, std::move(judged)).second) order_.push_back(key);
  for (; order_.size() > kKept; order_.pop_front())
    prepared_.erase(order_.front());
}

std::optional<JudgedHere> PreparedStore::take(const Hash128& key) {
  const std::lock_guard lock(mutex_);
  auto found = prepared_.extract(key);
  if (found.empty()) return std::nullopt;
  return std::move(found.mapped());
}

}  // namespace regraph::gpu
