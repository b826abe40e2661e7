// Stage 1 of a policy: a network that imitates the best of the siblings that were tried.
//
//   pi*(e) = softmax over the tried siblings of R(e) / tau      closed form of max sum pi R - tau KL
//   L      = sum over groups of w [ CE(pi*, softmax over siblings of ln P_graph + F)
//                                   + 0.5 Huber(g - gain) + 0.25 Pinball_0.7(b - R) ]
//   w      = 1 / (groups of the family) * (1/2 + 1/2 surprise); no CE where R hardly differs
//   surprise ~ KL(pi* || P_graph), of mean 1;  R: PolicyExample::returns
//
// Siblings that were not tried say nothing, which visit counts as a target would deny. Internal to
// the trainers.
#pragma once

#include "learn/policy_examples.h"
#include "learn/policy_training.h"
#include "policy/dense_network.h"

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace regraph::learn {

// softmax over the siblings of R / temperature.
[[nodiscard]] std::vector<double> preferred(const PolicyExample& example, double temperature);

// A network of `inputs` inputs. The same examples, config and seed give the same weights.
[[nodiscard]] policy::DenseNetwork imitate(std::span<const PolicyExample> examples,
                                           std::size_t inputs, const PolicyTrainingConfig& config,
                                           std::uint64_t seed);

// The order in which an epoch goes through `count` examples.
[[nodiscard]] std::vector<std::size_t> shuffled(std::size_t count, std::mt19937_64& random);

}  // namespace regraph::learn
