#include "learn/imitation.h"

#include "learn/network_trainer.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <random>

namespace regraph::learn {

namespace {

constexpr double kGainWeight = 0.5;
constexpr double kBelowWeight = 0.25;
constexpr double kHuberLimit = 0.5;
// The best below is a maximum of what was found: to be met from above.
constexpr double kQuantile = 0.7;

struct Target {
  std::vector<double> preferred;  // pi*
  double weight = 0.0;            // of the cross-entropy
};

std::vector<Target> imitation_targets(std::span<const PolicyExample> examples, double temperature) {
  std::vector<Target> targets;
  double total_surprise = 0.0;
  double decided = 0.0;
  std::vector<double> surprises;
  for (const PolicyExample& example : examples) {
    Target& target = targets.emplace_back();
    target.preferred = preferred(example, temperature);
    const std::vector<double> prior = softmax(example.log_priors);
    double surprise = 0.0;
    for (std::size_t edge = 0; edge < prior.size(); ++edge) {
      const double wanted = target.preferred[edge];
      if (wanted > 0.0) surprise += wanted * std::log(wanted / prior[edge]);
    }
    surprises.push_back(example.decided ? surprise : 0.0);
    total_surprise += surprises.back();
    decided += example.decided ? 1.0 : 0.0;
  }
  const double mean = total_surprise > 0.0 ? total_surprise / decided : 1.0;
  for (std::size_t at = 0; at < examples.size(); ++at) {
    if (examples[at].decided)
      targets[at].weight = examples[at].weight * (0.5 + 0.5 * surprises[at] / mean);
  }
  return targets;
}

// Adds the slopes of one group's loss to the trainer's gradient.
void learn_group(const PolicyExample& example, const Target& target, NetworkTrainer& trainer) {
  std::vector<NetworkTrainer::Pass> passes;
  std::vector<double> logits;
  for (std::size_t edge = 0; edge < example.rows.size(); ++edge) {
    passes.push_back(trainer.forward(example.rows[edge], true));
    logits.push_back(example.log_priors[edge] + passes.back().outputs[0]);
  }
  const std::vector<double> policy = softmax(logits);
  const double share = example.weight / static_cast<double>(example.rows.size());
  for (std::size_t edge = 0; edge < example.rows.size(); ++edge) {
    const std::vector<float>& outputs = passes[edge].outputs;
    float slopes[policy::kOpinionSize] = {};
    slopes[0] = static_cast<float>(target.weight * (policy[edge] - target.preferred[edge]));
    if (example.verified[edge]) {
      const double error = outputs[1] - example.gains[edge];
      slopes[1] =
          static_cast<float>(kGainWeight * share * std::clamp(error, -kHuberLimit, kHuberLimit));
      const bool below = outputs[2] < example.returns[edge];
      slopes[2] = static_cast<float>(kBelowWeight * share * (below ? -kQuantile : 1.0 - kQuantile));
    }
    trainer.backward(example.rows[edge], passes[edge], slopes);
  }
}

}  // namespace

std::vector<double> preferred(const PolicyExample& example, double temperature) {
  std::vector<double> logits;
  for (const double value : example.returns)
    logits.push_back(value / temperature);
  return softmax(logits);
}

std::vector<std::size_t> shuffled(std::size_t count, std::mt19937_64& random) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t left = order.size(); left > 1; --left)
    std::swap(order[left - 1], order[random() % left]);
  return order;
}

policy::DenseNetwork imitate(std::span<const PolicyExample> examples, std::size_t inputs,
                             const PolicyTrainingConfig& config, std::uint64_t seed) {
  const std::vector<Target> targets = imitation_targets(examples, config.temperature);
  NetworkTrainer trainer(inputs, static_cast<std::size_t>(config.hidden), policy::kOpinionSize,
                         seed, {config.learning_rate, config.weight_decay, config.dropout});
  std::mt19937_64 random(seed);
  for (int epoch = 0; epoch < config.epochs; ++epoch) {
    const double done = static_cast<double>(epoch) / config.epochs;
    const double rate = 0.5 * (1.0 + std::cos(std::numbers::pi * done));
    int waiting = 0;
    for (const std::size_t at : shuffled(examples.size(), random)) {
      learn_group(examples[at], targets[at], trainer);
      if (++waiting < config.batch) continue;
      trainer.step(rate);
      waiting = 0;
    }
    if (waiting > 0) trainer.step(rate);
  }
  return trainer.network();
}

}  // namespace regraph::learn
