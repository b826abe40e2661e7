#include "learn/policy_training.h"

#include "learn/correction_trust.h"
#include "learn/sibling_examples.h"
#include "learn/sibling_ranking.h"
#include "policy/policy_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

namespace regraph::learn::policy_training_test {
namespace {

using namespace examples;

PolicyTrainingConfig quick() {
  PolicyTrainingConfig config;
  config.networks = 3;
  config.hidden = 8;
  config.epochs = 60;
  return config;
}

std::string bytes_of(const PolicyTrainingConfig& config) {
  const auto model = train_policy(decided_groups(1, 30), layout(), config);
  EXPECT_TRUE(model);
  return model ? policy::policy_bytes(*model) : std::string();
}

bool has(const policy::PolicyModel& model, const char* input) {
  return std::ranges::count(model.inputs, input) == 1;
}

std::string message_for(const std::vector<SiblingGroup>& groups) {
  PolicyTrainingConfig config = quick();
  config.epochs = 2;
  const auto model = train_policy(groups, layout(), config);
  if (model) return "accepted";
  const bool nothing = model.error().message.starts_with("there is nothing");
  EXPECT_EQ(model.error().code, nothing ? ErrorCode::not_found : ErrorCode::invalid_argument);
  return model.error().message;
}

TEST(PolicyTraining, LearnsToRankByWhatDecides) {
  PolicyTrainingConfig config = quick();
  config.epochs = 150;
  config.batch = 8;
  auto model = train_policy(decided_groups(1, 60), layout(), config);
  ASSERT_TRUE(model) << model.error().message;
  const auto reader = policy::PolicyReader::make(std::move(*model));
  ASSERT_TRUE(reader) << reader.error().message;
  const auto unseen = decided_groups(2, 200);
  for (const RankedBy by : {RankedBy::best_below, RankedBy::log_gain}) {
    const RankingScore prior = rank_siblings(unseen, layout(), nullptr, by);
    const RankingScore learned = rank_siblings(unseen, layout(), &*reader, by);
    EXPECT_EQ(prior.groups, 200);
    EXPECT_EQ(prior.families, 5);
    EXPECT_LT(prior.top_one, 0.4);
    EXPECT_GT(learned.top_one, 0.9);
    EXPECT_LT(learned.mean_rank, 1.2);
  }
  // And what to expect of an edge.
  double error = 0.0;
  for (const SiblingGroup& group : unseen) {
    std::vector<std::vector<float>> rows;
    for (const SiblingEdge& edge : group.edges)
      rows.push_back(edge.row);
    const auto opinions = reader->opinions(rows);
    for (std::size_t at = 0; at < rows.size(); ++at)
      error += std::fabs(opinions[at].log_gain - group.edges[at].log_gain) / 800.0;
  }
  EXPECT_LT(error, 0.1);
}

TEST(PolicyTraining, TheSameSeedGivesTheSameBytesOnAnyNumberOfThreads) {
  PolicyTrainingConfig config = quick();
  config.epochs = 10;
  const std::string bytes = bytes_of(config);
  for (const int threads : {0, 1, 2, 7}) {
    config.threads = threads;
    EXPECT_EQ(bytes_of(config), bytes) << threads;
  }
  config.seed = 2;
  EXPECT_NE(bytes_of(config), bytes);
}

TEST(PolicyTraining, RefusesWhatIsNoNumber) {
  auto groups = decided_groups(1, 5);
  groups[3].family = "odd";
  groups[3].state = "s77";
  groups[3].edges[1].best_below = std::nan("");
  EXPECT_EQ(message_for(groups),
            "the state s77 of a kernel of 'odd' has a gain that is not a number");
  groups[3].edges[1].best_below = 0.0;
  groups[3].edges[1].log_gain = std::numeric_limits<double>::infinity();
  EXPECT_EQ(message_for(groups),
            "the state s77 of a kernel of 'odd' has a gain that is not a number");
  groups[3].edges[1].log_gain = 0.0;
  EXPECT_EQ(message_for(groups), "accepted");
  groups[3].edges[1].row[place("graph.log_prior")] = std::nanf("");
  EXPECT_TRUE(message_for(groups).starts_with("training went astray: "));
}

TEST(PolicyTraining, RefusesWhatThereIsNothingToLearnFrom) {
  EXPECT_TRUE(message_for({}).starts_with("there is nothing to learn from: "));
  auto groups = decided_groups(1, 5);
  for (SiblingGroup& group : groups) {
    for (SiblingEdge& edge : group.edges)
      edge.best_below = 0.3;
  }
  EXPECT_TRUE(message_for(groups).starts_with("there is nothing to learn from: "));
  groups[2].edges[0].best_below = 0.4;
  EXPECT_EQ(message_for(groups), "accepted");
}

TEST(PolicyTraining, ExcludedAndConstantInputsAreAbsent) {
  const auto groups = decided_groups(1, 20);
  const auto whole = train_policy(groups, layout(), quick());
  ASSERT_TRUE(whole);
  EXPECT_TRUE(has(*whole, "setting.factor"));
  EXPECT_TRUE(has(*whole, "change.loops"));
  EXPECT_FALSE(has(*whole, "setting.depth"));  // 0 everywhere
  PolicyTrainingConfig config = quick();
  config.without_inputs = {"setting.f", "change."};
  const auto less = train_policy(groups, layout(), config);
  ASSERT_TRUE(less);
  EXPECT_EQ(less->inputs.size(), whole->inputs.size() - 2);
  EXPECT_FALSE(has(*less, "setting.factor"));
  EXPECT_TRUE(has(*less, "setting.width"));
  config.without_inputs = {""};
  EXPECT_FALSE(train_policy(groups, layout(), config));
}

TEST(PolicyTraining, WhatDoesNotCarryOverIsNotTrusted) {
  const auto groups_where = [](bool carries) {
    auto groups = decided_groups(3, 80);
    for (std::size_t at = 0; at < groups.size(); ++at) {
      groups[at].family = "family" + std::to_string(at % 4);
      groups[at].at_original = at % 8 < 4;
      // In half of the families the input that decides means the contrary.
      if (carries || at % 4 < 2) continue;
      for (SiblingEdge& edge : groups[at].edges) {
        float& factor = edge.row[place("setting.factor")];
        factor = 5.0F - factor;
      }
    }
    return groups;
  };
  PolicyTrainingConfig config = quick();
  config.epochs = 80;
  config.batch = 8;
  config.trust_folds = 4;
  const auto carries = train_policy(groups_where(true), layout(), config);
  const auto misleads = train_policy(groups_where(false), layout(), config);
  ASSERT_TRUE(carries && misleads);
  EXPECT_GT(carries->trust.at_original, 0.6F);
  EXPECT_GT(carries->trust.below, 0.6F);
  EXPECT_LT(misleads->trust.at_original, 0.3F);
  EXPECT_LT(misleads->trust.below, 0.3F);
}

TEST(PolicyTraining, OneFamilyAloneGetsTheUsualTrust) {
  auto groups = decided_groups(1, 30);
  for (SiblingGroup& group : groups)
    group.family = "only";
  PolicyTrainingConfig config = quick();
  config.epochs = 2;
  auto model = train_policy(groups, layout(), config);
  ASSERT_TRUE(model);
  EXPECT_EQ(model->trust.at_original, kUsualTrust.at_original);
  EXPECT_EQ(model->trust.below, kUsualTrust.below);
  // Kin are one family to that.
  groups[0].family = "kin";
  config.together.join({"kin", "only"});
  model = train_policy(groups, layout(), config);
  ASSERT_TRUE(model);
  EXPECT_EQ(model->trust.below, kUsualTrust.below);
}

}  // namespace
}  // namespace regraph::learn::policy_training_test
