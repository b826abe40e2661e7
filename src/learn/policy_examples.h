// Sibling groups made ready for training: rows standardised, targets worked out. Internal to the
// trainers.
#pragma once

#include "learn/sibling_groups.h"
#include "policy/policy_model.h"

#include <span>
#include <vector>

namespace regraph::learn {

struct PolicyExample {
  std::vector<std::vector<float>> rows;  // [edges][inputs]
  std::vector<double> log_priors;        // by edge, of the graph
  // max(0, R): what a try is worth. A search keeps the best, so a loss costs an evaluation, no
  // more.
  std::vector<double> returns;
  std::vector<double> gains;
  std::vector<bool> verified;
  // Groups of a family together weigh as much as those of another; those of kernels that were made
  // from others half as much each, and together at most half of the family.
  double weight = 0.0;
  bool decided = false;  // returns differ enough to prefer one
  bool at_original = false;
};

// Names, means and scales of the inputs worth having: those that are not the same everywhere. Steps
// are left as they are, 0 or 1. `without`: beginnings of names that are left out.
[[nodiscard]] policy::PolicyModel describe_inputs(std::span<const SiblingGroup> groups,
                                                  const policy::FeatureLayout& layout,
                                                  std::span<const std::string> without = {});

[[nodiscard]] std::vector<PolicyExample> make_examples(std::span<const SiblingGroup> groups,
                                                       const policy::FeatureLayout& layout,
                                                       const policy::PolicyModel& inputs);

// softmax of `logits`.
[[nodiscard]] std::vector<double> softmax(std::span<const double> logits);

}  // namespace regraph::learn
