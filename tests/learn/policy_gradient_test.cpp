#include "learn/policy_gradient.h"

#include "learn/imitation.h"
#include "learn/sibling_examples.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace regraph::learn::policy_gradient_test {
namespace {

using namespace examples;

// The loss whose slopes are tested, written down again from its formula.
double loss_of(const std::vector<double>& logits, const std::vector<double>& advantages,
               const std::vector<double>& old, const std::vector<double>& first, double penalty) {
  const std::vector<double> policy = softmax(logits);
  double loss = 0.0;
  for (std::size_t edge = 0; edge < policy.size(); ++edge) {
    const double ratio = policy[edge] / old[edge];
    const double held = std::clamp(ratio, 0.8, 1.28);
    loss -= old[edge] * std::min(ratio * advantages[edge], held * advantages[edge]);
    loss += penalty * policy[edge] * std::log(policy[edge] / first[edge]);
  }
  return loss;
}

TEST(PolicyGradient, SlopesAreThoseOfTheLoss) {
  std::mt19937_64 random(5);
  const auto number = [&] { return static_cast<double>(random() % 2001) / 1000.0 - 1.0; };
  int held = 0;
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<double> logits;
    std::vector<double> before;
    std::vector<double> start;
    std::vector<double> advantages;
    for (int edge = 0; edge < 4; ++edge) {
      logits.push_back(number());
      before.push_back(logits.back() + 0.3 * number());
      start.push_back(number());
      advantages.push_back(2.0 * number());
    }
    const std::vector<double> old = softmax(before);
    const std::vector<double> first = softmax(start);
    const auto slopes = gradient_slopes(logits, advantages, old, first, 0.05);
    for (std::size_t edge = 0; edge < logits.size(); ++edge) {
      constexpr double kStep = 1e-6;
      auto more = logits;
      auto less = logits;
      more[edge] += kStep;
      less[edge] -= kStep;
      const double expected = (loss_of(more, advantages, old, first, 0.05) -
                               loss_of(less, advantages, old, first, 0.05)) /
                              (2.0 * kStep);
      EXPECT_NEAR(slopes[edge], expected, 1e-6) << trial;
    }
    const std::vector<double> policy = softmax(logits);
    for (std::size_t edge = 0; edge < policy.size(); ++edge) {
      const double ratio = policy[edge] / old[edge];
      held += ratio > 1.28 && advantages[edge] > 0.0 ? 1 : 0;
    }
  }
  EXPECT_GT(held, 10);  // the clip was met
}

std::vector<PolicyExample> examples_of(const std::vector<SiblingGroup>& groups,
                                       policy::PolicyModel& inputs) {
  inputs = describe_inputs(groups, layout());
  return make_examples(groups, layout(), inputs);
}

double expected_return(const policy::DenseNetwork& network,
                       const std::vector<PolicyExample>& examples) {
  double sum = 0.0;
  for (const PolicyExample& example : examples) {
    std::vector<double> logits = example.log_priors;
    for (std::size_t edge = 0; edge < logits.size(); ++edge)
      logits[edge] += network.evaluate(example.rows[edge])[0];
    const auto policy = softmax(logits);
    for (std::size_t edge = 0; edge < policy.size(); ++edge)
      sum += policy[edge] * example.returns[edge];
  }
  return sum / static_cast<double>(examples.size());
}

TEST(PolicyGradient, RaisesWhatTheSiblingsAreWorthAndStaysNear) {
  policy::PolicyModel inputs;
  const auto examples = examples_of(decided_groups(1, 60), inputs);
  PolicyTrainingConfig stage_one;
  stage_one.hidden = 8;
  stage_one.epochs = 5;
  const auto first = imitate(examples, inputs.inputs.size(), stage_one, 1);
  PolicyGradientConfig config;
  config.learning_rate = 2e-3;
  const auto second = reinforce(first, examples, config, 1);
  EXPECT_GT(expected_return(second, examples), expected_return(first, examples) + 0.01);
  const auto opinion = [&](const policy::DenseNetwork& network) {
    return network.evaluate(examples[0].rows[0]);
  };
  EXPECT_NE(opinion(second)[0], opinion(first)[0]);
  // A heavy penalty keeps it where it was.
  config.penalty = 1e3;
  const auto held = reinforce(first, examples, config, 1);
  EXPECT_LT(std::fabs(opinion(held)[0] - opinion(first)[0]),
            0.5 * std::fabs(opinion(second)[0] - opinion(first)[0]));
  EXPECT_EQ(reinforce(first, examples, config, 1).first_weights, held.first_weights);
}

TEST(PolicyGradient, RewardsAreAsAskedFor) {
  // The first sibling gains at once, the second below.
  auto groups = decided_groups(1, 40);
  for (SiblingGroup& group : groups) {
    for (SiblingEdge& edge : group.edges)
      edge.log_gain = edge.row[place("setting.factor")] == 1.0F ? 0.5 : 0.0;
  }
  policy::PolicyModel inputs;
  const auto examples = examples_of(groups, inputs);
  PolicyTrainingConfig stage_one;
  stage_one.hidden = 8;
  stage_one.epochs = 1;
  const auto first = imitate(examples, inputs.inputs.size(), stage_one, 1);
  PolicyGradientConfig config;
  config.learning_rate = 2e-3;
  config.rounds = 40;
  const auto share_of = [&](const policy::DenseNetwork& network, float factor) {
    double sum = 0.0;
    for (std::size_t at = 0; at < groups.size(); ++at) {
      std::vector<double> logits = examples[at].log_priors;
      for (std::size_t edge = 0; edge < logits.size(); ++edge)
        logits[edge] += network.evaluate(examples[at].rows[edge])[0];
      const auto policy = softmax(logits);
      for (std::size_t edge = 0; edge < policy.size(); ++edge) {
        if (groups[at].edges[edge].row[place("setting.factor")] == factor) sum += policy[edge];
      }
    }
    return sum / static_cast<double>(groups.size());
  };
  const auto below = reinforce(first, examples, config, 1);
  config.reward = GradientReward::own_gain;
  const auto own = reinforce(first, examples, config, 1);
  EXPECT_GT(share_of(own, 1.0F), share_of(first, 1.0F));
  EXPECT_GT(share_of(below, 4.0F), share_of(first, 4.0F));
  EXPECT_LT(share_of(below, 1.0F), share_of(own, 1.0F));
}

}  // namespace
}  // namespace regraph::learn::policy_gradient_test
