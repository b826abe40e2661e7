// Stage 2 of a policy: group-relative policy optimization, which goes on with a network of stage 1.
// A group is the tried siblings of one state.
//
//   A(e) = R(e) - sum over siblings of pi_old R, over the root mean square of A over all groups
//   L    = - sum over groups of w sum over siblings of pi_old min(rho A, clip(rho, .8, 1.28) A)
//          + 0.05 KL(pi || pi_1)                 rho = pi / pi_old, pi = softmax of ln P_graph + F
//
// pi_1: stage 1's. Siblings are enumerated, not drawn, so each counts with the old policy's
// probability and no ratio to a behaviour is needed. Advantages are divided by one number for all
// groups: a group's own deviation would make much of those that hardly differ. The upper clip is
// the wider one, so that what is unlikely may still grow. The other outputs (gain, best below) are
// not trained further, and drift with the hidden layer that they share. Internal to the trainers.
#pragma once

#include "learn/policy_examples.h"
#include "policy/dense_network.h"

#include <cstdint>
#include <span>

namespace regraph::learn {

// What an edge is rewarded with: the best that was found below it, or its own gain (positive part).
enum class GradientReward : std::uint8_t { best_below, own_gain };

struct PolicyGradientConfig {
  int rounds = 20;  // pi_old is renewed before each
  int passes = 4;   // over all groups, a round
  int batch = 32;   // groups
  double learning_rate = 2e-4;
  double penalty = 0.05;  // of leaving stage 1, times KL
  GradientReward reward = GradientReward::best_below;
};

// The same arguments give the same weights.
[[nodiscard]] policy::DenseNetwork reinforce(policy::DenseNetwork network,
                                             std::span<const PolicyExample> examples,
                                             const PolicyGradientConfig& config,
                                             std::uint64_t seed);

// The slope of a group's loss by each sibling's logit; for tests of it. `advantages` as above,
// `old` and `first`: pi_old and pi_1.
[[nodiscard]] std::vector<double> gradient_slopes(std::span<const double> logits,
                                                  std::span<const double> advantages,
                                                  std::span<const double> old,
                                                  std::span<const double> first, double penalty);

}  // namespace regraph::learn
