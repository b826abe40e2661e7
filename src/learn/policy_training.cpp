#include "learn/policy_training.h"

#include "learn/correction_trust.h"
#include "learn/cross_fitting.h"
#include "learn/imitation.h"
#include "learn/policy_examples.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <thread>

namespace regraph::learn {

namespace {

policy::DenseNetwork train_network(std::span<const PolicyExample> examples, std::size_t inputs,
                                   const PolicyTrainingConfig& config, std::uint64_t seed) {
  policy::DenseNetwork network = imitate(examples, inputs, config, seed);
  if (!config.second_stage) return network;
  return reinforce(std::move(network), examples, config.gradient, seed);
}

// F of the examples of `part`, from a network that saw the others; the rest are left as they are.
void correct_part(const std::vector<PolicyExample>& examples, const std::vector<int>& parts,
                  int part, std::size_t inputs, const PolicyTrainingConfig& config,
                  std::vector<std::vector<double>>& corrections) {
  std::vector<PolicyExample> others;
  for (std::size_t at = 0; at < examples.size(); ++at) {
    if (parts[at] != part) others.push_back(examples[at]);
  }
  const auto network =
      train_network(others, inputs, config, config.seed + static_cast<std::uint64_t>(part));
  for (std::size_t at = 0; at < examples.size(); ++at) {
    if (parts[at] != part) continue;
    for (const std::vector<float>& row : examples[at].rows)
      corrections[at].push_back(network.evaluate(row)[0]);
  }
}

// Calls `task` with 0, 1, ..., count - 1, by several threads.
template <typename Task>
void for_each_task(std::size_t count, int threads, Task task) {
  const auto stride = static_cast<std::size_t>(std::max(threads, 1));
  const auto work = [&](std::size_t first) {
    for (std::size_t at = first; at < count; at += stride)
      task(at);
  };
  std::vector<std::jthread> helpers;
  for (std::size_t thread = 1; thread < stride; ++thread)
    helpers.emplace_back([&, thread] { work(thread); });
  work(0);
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
    return fail(ErrorCode::not_found,
                "there is nothing to learn from: no state of which two steps were tried that "
                "differ in what they bring");
  }
  std::vector<std::string> families;
  families.reserve(groups.size());
  for (const SiblingGroup& group : groups)
    families.push_back(group.family);
  const auto part_of = family_parts(families, config.together, config.trust_folds);
  std::vector<int> parts;
  parts.reserve(families.size());
  for (const std::string& family : families)
    parts.push_back(part_of.at(family));
  const bool measured = std::ranges::max(parts) > 0;
  const auto networks = static_cast<std::size_t>(config.networks);
  const std::size_t folds = measured ? static_cast<std::size_t>(config.trust_folds) : 0;
  model.networks.resize(networks);
  std::vector<std::vector<double>> corrections(examples.size());
  for_each_task(networks + folds, config.threads, [&](std::size_t task) {
    if (task < networks) {
      model.networks[task] =
          train_network(examples, model.inputs.size(), config, config.seed + task);
      return;
    }
    correct_part(examples, parts, static_cast<int>(task - networks), model.inputs.size(), config,
                 corrections);
  });
  model.trust = measured ? trust_of(examples, corrections, config.temperature) : kUsualTrust;
  if (const std::string wrong = model.inconsistency(); !wrong.empty())
    return fail(ErrorCode::invalid_argument, "training went astray: " + wrong);
  return model;
}

}  // namespace regraph::learn
