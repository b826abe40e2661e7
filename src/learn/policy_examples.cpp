#include "learn/policy_examples.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

namespace regraph::learn {

namespace {

// Below this difference of log-gains siblings are as good as each other.
constexpr double kDifference = 0.02;
constexpr double kSame = 1e-6;

// Code that was made slow is easily told from code that people wrote: a group of it counts for half
// a group, and all of a family's together for no more than those of its own kernels.
constexpr double kDerivedWeight = 0.5;

// What a group of a family weighs; all its groups together weigh 1.
struct FamilyWeights {
  double own = 0.0;
  double derived = 0.0;
};

std::map<std::string, FamilyWeights> weights_of(std::span<const SiblingGroup> groups) {
  std::map<std::string, FamilyWeights> counts;
  for (const SiblingGroup& group : groups)
    (group.derived ? counts[group.family].derived : counts[group.family].own) += 1.0;
  std::map<std::string, FamilyWeights> weights;
  for (const auto& [family, count] : counts) {
    double derived = kDerivedWeight;
    if (count.own > 0.0 && count.derived > 0.0)
      derived = std::min(derived, count.own / count.derived);
    const double total = count.own + derived * count.derived;
    weights[family] = {1.0 / total, derived / total};
  }
  return weights;
}

}  // namespace

policy::PolicyModel describe_inputs(std::span<const SiblingGroup> groups,
                                    const policy::FeatureLayout& layout,
                                    std::span<const std::string> without) {
  struct Moments {
    double sum = 0.0;
    double squares = 0.0;
    double count = 0.0;
  };
  std::vector<Moments> moments(layout.size());
  for (const SiblingGroup& group : groups) {
    for (const SiblingEdge& edge : group.edges) {
      for (std::size_t at = 0; at < layout.size(); ++at) {
        const double value = edge.row[at];
        if (!std::isfinite(value)) continue;
        moments[at].sum += value;
        moments[at].squares += value * value;
        moments[at].count += 1.0;
      }
    }
  }
  policy::PolicyModel model;
  model.steps = layout.steps();
  for (std::size_t at = 0; at < layout.size(); ++at) {
    if (moments[at].count == 0.0) continue;
    const double mean = moments[at].sum / moments[at].count;
    const double variance = moments[at].squares / moments[at].count - mean * mean;
    if (variance < kSame) continue;
    const std::string& name = layout.names()[at];
    if (std::ranges::any_of(without, [&](const std::string& one) { return name.starts_with(one); }))
      continue;
    const bool flag = name.starts_with("step.") || name.starts_with("last.");
    model.inputs.push_back(name);
    model.means.push_back(flag ? 0.0F : static_cast<float>(mean));
    model.scales.push_back(flag ? 1.0F : static_cast<float>(1.0 / std::sqrt(variance)));
  }
  return model;
}

std::vector<PolicyExample> make_examples(std::span<const SiblingGroup> groups,
                                         const policy::FeatureLayout& layout,
                                         const policy::PolicyModel& inputs) {
  std::vector<std::size_t> places;
  for (const std::string& input : inputs.inputs)
    places.push_back(*layout.place(input));
  const std::size_t prior_place = *layout.place("graph.log_prior");
  const std::map<std::string, FamilyWeights> of_family = weights_of(groups);
  const double average = of_family.empty() ? 1.0
                                           : static_cast<double>(groups.size()) /
                                                 static_cast<double>(of_family.size());

  std::vector<PolicyExample> examples;
  for (const SiblingGroup& group : groups) {
    PolicyExample& example = examples.emplace_back();
    for (const SiblingEdge& edge : group.edges) {
      std::vector<float>& row = example.rows.emplace_back(places.size());
      for (std::size_t input = 0; input < places.size(); ++input)
        row[input] = policy::standardised(edge.row[places[input]], inputs.means[input],
                                          inputs.scales[input]);
      example.log_priors.push_back(edge.row[prior_place]);
      example.returns.push_back(std::max(edge.best_below, 0.0));
      example.gains.push_back(edge.log_gain);
      example.verified.push_back(edge.verified);
    }
    const auto [least, most] = std::ranges::minmax(example.returns);
    example.at_original = group.at_original;
    example.decided = most - least >= kDifference;
    const FamilyWeights& family = of_family.at(group.family);
    example.weight = average * (group.derived ? family.derived : family.own);
  }
  return examples;
}

std::vector<double> softmax(std::span<const double> logits) {
  std::vector<double> result(logits.begin(), logits.end());
  const double largest = *std::ranges::max_element(result);
  double total = 0.0;
  for (double& value : result)
    total += value = std::exp(value - largest);
  for (double& value : result)
    value /= total;
  return result;
}

}  // namespace regraph::learn
