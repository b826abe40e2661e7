#include "learn/policy_training.h"

#include "learn/network_trainer.h"
#include "learn/policy_examples.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <random>
#include <thread>

namespace regraph::learn {

namespace {

constexpr double kGainWeight = 0.5;
constexpr double kBelowWeight = 0.25;
constexpr double kHuberLimit = 0.5;
// The best below is a maximum of what was found: to be met from above.
constexpr double kQuantile = 0.7;
constexpr double kPays = 0.05;
constexpr double kAsGood = 0.02;

struct Target {
  std::vector<double> preferred;  // pi*
  double weight = 0.0;            // of the cross-entropy
};

std::vector<Target> targets_of(const std::vector<PolicyExample>& examples, double temperature) {
  std::vector<Target> targets;
  double total_surprise = 0.0;
  double decided = 0.0;
  std::vector<double> surprises;
  for (const PolicyExample& example : examples) {
    std::vector<double> logits;
    for (const double value : example.returns)
      logits.push_back(value / temperature);
    Target& target = targets.emplace_back();
    target.preferred = softmax(logits);
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

policy::DenseNetwork train_network(const std::vector<PolicyExample>& examples,
                                   const std::vector<Target>& targets, std::size_t inputs,
                                   const PolicyTrainingConfig& config, std::uint64_t seed) {
  NetworkTrainer trainer(inputs, static_cast<std::size_t>(config.hidden), policy::kOpinionSize,
                         seed, {config.learning_rate, config.weight_decay, config.dropout});
  std::vector<std::size_t> order(examples.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937_64 random(seed);
  for (int epoch = 0; epoch < config.epochs; ++epoch) {
    for (std::size_t left = order.size(); left > 1; --left)
      std::swap(order[left - 1], order[random() % left]);
    const double done = static_cast<double>(epoch) / config.epochs;
    const double rate = 0.5 * (1.0 + std::cos(std::numbers::pi * done));
    int waiting = 0;
    for (const std::size_t at : order) {
      learn_group(examples[at], targets[at], trainer);
      if (++waiting < config.batch) continue;
      trainer.step(rate);
      waiting = 0;
    }
    if (waiting > 0) trainer.step(rate);
  }
  return trainer.network();
}

}  // namespace

Result<policy::PolicyModel> train_policy(std::span<const SiblingGroup> groups,
                                         const policy::FeatureLayout& layout,
                                         const PolicyTrainingConfig& config) {
  for (const SiblingGroup& group : groups) {
    for (const SiblingEdge& edge : group.edges) {
      if (std::isfinite(edge.log_gain) && std::isfinite(edge.best_below)) continue;
      return fail(ErrorCode::invalid_argument, "the state " + group.state + " of a kernel of '" +
                                                   group.family +
                                                   "' has a gain that is not a number");
    }
  }
  policy::PolicyModel model = describe_inputs(groups, layout, config.without_inputs);
  const std::vector<PolicyExample> examples = make_examples(groups, layout, model);
  if (std::ranges::none_of(examples, &PolicyExample::decided)) {
    return fail(ErrorCode::invalid_argument,
                "there is nothing to learn from: no state of which two steps were tried that "
                "differ in what they bring");
  }
  const std::vector<Target> targets = targets_of(examples, config.temperature);
  model.networks.resize(static_cast<std::size_t>(config.networks));
  const auto train = [&](std::size_t first) {
    for (std::size_t at = first; at < model.networks.size();
         at += static_cast<std::size_t>(std::max(config.threads, 1)))
      model.networks[at] =
          train_network(examples, targets, model.inputs.size(), config, config.seed + at);
  };
  {
    std::vector<std::jthread> threads;
    for (int thread = 1; thread < config.threads; ++thread)
      threads.emplace_back([&, thread] { train(static_cast<std::size_t>(thread)); });
    train(0);
  }
  if (const std::string wrong = model.inconsistency(); !wrong.empty())
    return fail(ErrorCode::invalid_argument, "training went astray: " + wrong);
  return model;
}

RankingScore rank_siblings(std::span<const SiblingGroup> groups,
                           const policy::FeatureLayout& layout, const policy::PolicyReader* model,
                           RankedBy by) {
  struct Sums {
    double one = 0.0;
    double three = 0.0;
    double rank = 0.0;
    int groups = 0;
  };
  std::map<std::string, Sums> families;
  const std::size_t prior_place = *layout.place("graph.log_prior");
  for (const SiblingGroup& group : groups) {
    std::vector<double> values;
    std::vector<std::vector<float>> rows;
    for (const SiblingEdge& edge : group.edges) {
      const double gain = edge.verified ? edge.log_gain : -1.0;
      values.push_back(by == RankedBy::best_below ? edge.best_below : gain);
      rows.push_back(edge.row);
    }
    const double best = *std::ranges::max_element(values);
    if (best < kPays) continue;
    const auto opinions =
        model != nullptr ? model->opinions(rows) : std::vector<policy::EdgeOpinion>(rows.size());
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t at) {
      return rows[at][prior_place] + opinions[at].correction;
    });
    std::size_t rank = 0;
    while (values[order[rank]] < best - kAsGood)
      ++rank;
    Sums& sums = families[group.family];
    sums.one += rank == 0 ? 1.0 : 0.0;
    sums.three += rank < 3 ? 1.0 : 0.0;
    sums.rank += static_cast<double>(rank + 1);
    ++sums.groups;
  }
  RankingScore score;
  for (const auto& [family, sums] : families) {
    score.top_one += sums.one / sums.groups;
    score.top_three += sums.three / sums.groups;
    score.mean_rank += sums.rank / sums.groups;
    score.groups += sums.groups;
    ++score.families;
  }
  if (score.families > 0) {
    for (double* mean : {&score.top_one, &score.top_three, &score.mean_rank})
      *mean /= score.families;
  }
  return score;
}

}  // namespace regraph::learn
