// Stage 1 of a policy: imitate the best of the siblings that were tried.
//
//   pi*(e) = softmax over the tried siblings of R(e) / tau      closed form of max sum pi R - tau KL
//   L      = sum over groups of w [ CE(pi*, softmax over siblings of ln P_graph + F)
//                                   + 0.5 Huber(g - gain) + 0.25 Pinball_0.7(b - R) ]
//   w      = 1 / (groups of the family) * (1/2 + 1/2 surprise); no CE where R hardly differs
//   surprise ~ KL(pi* || P_graph), of mean 1
//
// Siblings that were not tried say nothing, which visit counts as a target would deny. Several
// networks from different seeds are averaged.
#pragma once

#include "base/result.h"
#include "learn/sibling_groups.h"
#include "policy/policy_model.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace regraph::learn {

struct PolicyTrainingConfig {
  int networks = 3;
  int hidden = 32;
  int epochs = 40;
  int batch = 32;  // groups
  double temperature = 0.1;
  double learning_rate = 3e-3;
  double weight_decay = 0.03;
  double dropout = 0.2;
  std::vector<std::string> without_inputs = {};  // beginnings of names, for ablations
  std::uint64_t seed = 1;
  int threads = 1;  // networks are trained side by side; changes nothing else
};

// A model of `groups`, whose rows are of `layout`. Errors: invalid_argument (no group whose
// siblings differ; a group with a number that is not finite, named; weights that became so).
[[nodiscard]] Result<policy::PolicyModel> train_policy(std::span<const SiblingGroup> groups,
                                                       const policy::FeatureLayout& layout,
                                                       const PolicyTrainingConfig& config);

// How well priors rank the siblings of groups, a family's groups counting as one.
struct RankingScore {
  double top_one = 0.0;    // share where the first is within 2 % of the best
  double top_three = 0.0;  // where one of the first three is
  double mean_rank = 0.0;  // of the best, from 1
  int groups = 0;
  int families = 0;
};
// By what is reached below, or by the step's own gain. `model` null: the graph's prior alone.
// Groups in which no edge gains more than 5 % are left out.
enum class RankedBy : std::uint8_t { best_below, log_gain };
[[nodiscard]] RankingScore rank_siblings(std::span<const SiblingGroup> groups,
                                         const policy::FeatureLayout& layout,
                                         const policy::PolicyReader* model, RankedBy by);

}  // namespace regraph::learn
