// The choice of the answer: the best states are confirmed with fresh inputs and, when times are
// measured, timed again next to the original by sequential halving.
#pragma once

#include "eval/evaluator.h"
#include "kernel/evaluation.h"
#include "search/config.h"
#include "search/outcome.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace regraph {

struct Finalist {
  std::uint32_t state = 0;
  Evaluation evaluation;  // from the search
  int steps = 0;          // that lead to it
};

struct FinalSelectionConfig {
  std::uint64_t seed = 0;
  int repetitions = 64;  // samples that a survivor of all rounds gets
  double evaluation_wall_seconds = 180.0;
};

[[nodiscard]] FinalSelectionConfig final_selection_config(const SearchConfig& config);
// What a candidate is given when a search first looks at it.
[[nodiscard]] EvaluationBudget first_look(const SearchConfig& config);
// What a finalist is given when its predicted time is confirmed.
[[nodiscard]] EvaluationBudget second_look(const SearchConfig& config);

struct FinalSelection {
  std::optional<std::uint32_t> winner;  // a state shown to be faster than the original, if any
  Evaluation winner_evaluation;
  bool confirmed = false;                     // the winner passed again with fresh inputs
  Evaluation baseline_evaluation;             // times pooled with those taken next to the finalists
  SpeedVerdict verdict = SpeedVerdict::same;  // of the best finalist, claimed or not
  std::vector<FinalistRecord> finalists;      // in the order given
};

// Evaluates a state again. Nothing when the caller was asked to stop.
using Confirm =
    std::function<std::optional<Evaluation>(std::uint32_t state, const EvaluationBudget& budget)>;

// Chooses among `finalists`, best first. `baseline` is the original's evaluation, state 0.
//
// Measured: ceil(log2 K) rounds share the repetitions equally; each measures the original and every
// survivor in turn and keeps the better half by pooled log-speedup over the original of the same
// round, which cancels drift. Predicted: more samples tell nothing new, so finalists are only
// verified again, best first, until one passes. A finalist that fails its confirmation is dropped;
// of the survivors whose times are the same as the best one's the one with the fewest steps wins.
// The winner is claimed only if its pooled interval is separated from the original's.
[[nodiscard]] FinalSelection select_final(const std::vector<Finalist>& finalists,
                                          const Evaluation& baseline,
                                          const FinalSelectionConfig& config,
                                          const Confirm& confirm);

}  // namespace regraph
