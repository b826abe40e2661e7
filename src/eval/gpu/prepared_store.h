// Candidates that went as far as they can without a GPU, before anybody asked for them.
#pragma once

#include "base/hash.h"
#include "eval/evaluator.h"
#include "eval/model/candidate_stages.h"

#include <deque>
#include <mutex>
#include <optional>
#include <unordered_map>

namespace regraph::gpu {

// What the stages that need no GPU made of a candidate.
struct JudgedHere {
  StagedCandidate staged;
  bool goes_on = false;  // to a GPU; else the evaluation says why not
};

// Thread-safe.
class PreparedStore {
 public:
  // Those kept that nobody has asked for; the oldest go.
  static constexpr std::size_t kKept = 256;

  // Of what judging depends on before a GPU is asked.
  [[nodiscard]] static Hash128 key_of(const Candidate& candidate, const EvaluationBudget& budget);

  void put(const Hash128& key, JudgedHere judged);
  // It is not kept any longer then.
  [[nodiscard]] std::optional<JudgedHere> take(const Hash128& key);

 private:
  std::mutex mutex_;
  std::unordered_map<Hash128, JudgedHere> prepared_;
  std::deque<Hash128> order_;  // may name what was taken
};

}  // namespace regraph::gpu
