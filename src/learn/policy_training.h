// Trains a policy: stage 1 imitates (learn/imitation.h), stage 2, if asked for, goes on by policy
// gradient (learn/policy_gradient.h); then it is measured how far its corrections are to be
// believed (learn/correction_trust.h). Several networks from different seeds are averaged.
#pragma once

#include "base/result.h"
#include "learn/name_groups.h"
#include "learn/policy_gradient.h"
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
  int epochs = 15;
  int batch = 32;  // groups
  double temperature = 0.05;
  double learning_rate = 3e-3;
  double weight_decay = 0.03;
  double dropout = 0.2;
  bool second_stage = false;
  PolicyGradientConfig gradient = {};
  int trust_folds = 5;       // parts that families are divided into to measure trust
  NameGroups together = {};  // families that are in the same part
  std::vector<std::string> without_inputs = {};  // beginnings of names, for ablations
  std::uint64_t seed = 1;
  int threads = 1;  // networks are trained side by side; changes nothing else
};

// A model of `groups`, whose rows are of `layout`. Errors: not_found (no group whose
// siblings differ in what they bring), invalid_argument (a group with a number that is not finite,
// named; weights that became so).
[[nodiscard]] Result<policy::PolicyModel> train_policy(std::span<const SiblingGroup> groups,
                                                       const policy::FeatureLayout& layout,
                                                       const PolicyTrainingConfig& config);

}  // namespace regraph::learn
