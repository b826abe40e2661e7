// How well priors put the tried siblings of states in order, without a search.
#pragma once

#include "learn/sibling_groups.h"
#include "policy/policy_model.h"

#include <cstdint>
#include <span>

namespace regraph::learn {

// How well priors rank the siblings of groups, a family's groups counting as one.
struct RankingScore {
  double top_one = 0.0;    // share where the first is within 2 % of the best
  double top_three = 0.0;  // where one of the first three is
  double mean_rank = 0.0;  // of the best, from 1
  int groups = 0;
  int families = 0;

  // Puts scores over other families beside these.
  void add(const RankingScore& other);
};
// By what is reached below, or by the step's own gain. `model` null: the graph's prior alone.
// Groups in which no edge gains more than 5 % are left out.
enum class RankedBy : std::uint8_t { best_below, log_gain };
[[nodiscard]] RankingScore rank_siblings(std::span<const SiblingGroup> groups,
                                         const policy::FeatureLayout& layout,
                                         const policy::PolicyReader* model, RankedBy by);

}  // namespace regraph::learn
