#include "learn/policy_gradient.h"

#include "learn/imitation.h"
#include "learn/network_trainer.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace regraph::learn {

namespace {

constexpr double kLeastRatio = 0.8;
constexpr double kMostRatio = 1.28;

struct GradientGroup {
  std::vector<double> old;         // pi_old
  std::vector<double> first;       // pi_1
  std::vector<double> advantages;  // of this round
};

std::vector<double> policy_of(const policy::DenseNetwork& network, const PolicyExample& example) {
  std::vector<double> logits = example.log_priors;
  for (std::size_t edge = 0; edge < logits.size(); ++edge)
    logits[edge] += network.evaluate(example.rows[edge])[0];
  return softmax(logits);
}

double reward_of(const PolicyExample& example, std::size_t edge, GradientReward reward) {
  if (reward == GradientReward::best_below) return example.returns[edge];
  return example.verified[edge] ? std::max(example.gains[edge], 0.0) : 0.0;
}

// Renews pi_old and the advantages of all decided groups.
void begin_round(const policy::DenseNetwork& network, std::span<const PolicyExample> examples,
                 GradientReward reward, std::vector<GradientGroup>& groups) {
  double squares = 0.0;
  std::size_t count = 0;
  for (std::size_t at = 0; at < examples.size(); ++at) {
    if (!examples[at].decided) continue;
    GradientGroup& group = groups[at];
    group.old = policy_of(network, examples[at]);
    double expected = 0.0;
    for (std::size_t edge = 0; edge < group.old.size(); ++edge)
      expected += group.old[edge] * reward_of(examples[at], edge, reward);
    group.advantages.clear();
    for (std::size_t edge = 0; edge < group.old.size(); ++edge) {
      group.advantages.push_back(reward_of(examples[at], edge, reward) - expected);
      squares += group.advantages.back() * group.advantages.back();
      ++count;
    }
  }
  const double deviation = count > 0 ? std::sqrt(squares / static_cast<double>(count)) : 0.0;
  if (!(deviation > 0.0)) return;
  for (GradientGroup& group : groups) {
    for (double& advantage : group.advantages)
      advantage /= deviation;
  }
}

void reinforce_group(const PolicyExample& example, const GradientGroup& group, double penalty,
                     NetworkTrainer& trainer) {
  std::vector<NetworkTrainer::Pass> passes;
  std::vector<double> logits;
  for (std::size_t edge = 0; edge < example.rows.size(); ++edge) {
    passes.push_back(trainer.forward(example.rows[edge], false));
    logits.push_back(example.log_priors[edge] + passes.back().outputs[0]);
  }
  const auto by_logit = gradient_slopes(logits, group.advantages, group.old, group.first, penalty);
  for (std::size_t edge = 0; edge < example.rows.size(); ++edge) {
    float slopes[policy::kOpinionSize] = {};
    slopes[0] = static_cast<float>(example.weight * by_logit[edge]);
    trainer.backward(example.rows[edge], passes[edge], slopes);
  }
}

}  // namespace

std::vector<double> gradient_slopes(std::span<const double> logits,
                                    std::span<const double> advantages, std::span<const double> old,
                                    std::span<const double> first, double penalty) {
  const std::vector<double> policy = softmax(logits);
  // Of pi_old min(rho A, clip(rho) A): pi A where the clip does not hold it, else constant.
  std::vector<double> moving(policy.size(), 0.0);
  double expected = 0.0;
  double divergence = 0.0;
  for (std::size_t edge = 0; edge < policy.size(); ++edge) {
    const double ratio = policy[edge] / old[edge];
    const double advantage = advantages[edge];
    const bool clipped = advantage > 0.0 ? ratio > kMostRatio : ratio < kLeastRatio;
    if (!clipped) moving[edge] = advantage;
    expected += policy[edge] * moving[edge];
    divergence += policy[edge] * std::log(policy[edge] / first[edge]);
  }
  std::vector<double> slopes;
  for (std::size_t edge = 0; edge < policy.size(); ++edge) {
    const double away = std::log(policy[edge] / first[edge]) - divergence;
    slopes.push_back(policy[edge] * (penalty * away - (moving[edge] - expected)));
  }
  return slopes;
}

policy::DenseNetwork reinforce(policy::DenseNetwork network,
                               std::span<const PolicyExample> examples,
                               const PolicyGradientConfig& config, std::uint64_t seed) {
  std::vector<GradientGroup> groups(examples.size());
  for (std::size_t at = 0; at < examples.size(); ++at)
    groups[at].first = policy_of(network, examples[at]);
  NetworkTrainer trainer(std::move(network), seed, {config.learning_rate, 0.0, 0.0});
  std::mt19937_64 random(seed);
  for (int round = 0; round < config.rounds; ++round) {
    begin_round(trainer.network(), examples, config.reward, groups);
    for (int pass = 0; pass < config.passes; ++pass) {
      int waiting = 0;
      for (const std::size_t at : shuffled(examples.size(), random)) {
        if (!examples[at].decided) continue;
        reinforce_group(examples[at], groups[at], config.penalty, trainer);
        if (++waiting < config.batch) continue;
        trainer.step(1.0);
        waiting = 0;
      }
      if (waiting > 0) trainer.step(1.0);
    }
  }
  return trainer.network();
}

}  // namespace regraph::learn
