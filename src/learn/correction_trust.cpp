#include "learn/correction_trust.h"

#include "learn/imitation.h"

#include <cmath>
#include <cstddef>

namespace regraph::learn {

namespace {

constexpr int kSteps = 20;
// Fewer decided groups than this say nothing reliable.
constexpr int kLeastGroups = 8;

double cross_entropy(std::span<const double> wanted, std::span<const double> policy) {
  double sum = 0.0;
  for (std::size_t edge = 0; edge < wanted.size(); ++edge)
    sum -= wanted[edge] * std::log(policy[edge]);
  return sum;
}

float best_trust(std::span<const PolicyExample> examples,
                 std::span<const std::vector<double>> corrections, double temperature,
                 bool at_original, float usual) {
  double losses[kSteps + 1] = {};
  int groups = 0;
  for (std::size_t at = 0; at < examples.size(); ++at) {
    const PolicyExample& example = examples[at];
    if (!example.decided || example.at_original != at_original) continue;
    ++groups;
    const std::vector<double> wanted = preferred(example, temperature);
    for (int step = 0; step <= kSteps; ++step) {
      std::vector<double> logits = example.log_priors;
      for (std::size_t edge = 0; edge < logits.size(); ++edge)
        logits[edge] += static_cast<double>(step) / kSteps * corrections[at][edge];
      losses[step] += example.weight * cross_entropy(wanted, softmax(logits));
    }
  }
  if (groups < kLeastGroups) return usual;
  int best = 0;
  for (int step = 1; step <= kSteps; ++step) {
    if (losses[step] < losses[best]) best = step;
  }
  return static_cast<float>(best) / kSteps;
}

}  // namespace

policy::CorrectionTrust trust_of(std::span<const PolicyExample> examples,
                                 std::span<const std::vector<double>> corrections,
                                 double temperature) {
  return {best_trust(examples, corrections, temperature, true, kUsualTrust.at_original),
          best_trust(examples, corrections, temperature, false, kUsualTrust.below)};
}

}  // namespace regraph::learn
