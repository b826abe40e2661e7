#include "learn/policy_training.h"

#include "learn/policy_examples.h"
#include "policy/policy_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

namespace regraph::learn {
namespace {

const policy::FeatureLayout& layout() {
  static const policy::FeatureLayout result({"swap", "tile"});
  return result;
}

std::size_t place(const char* name) {
  return *layout().place(name);
}

SiblingEdge edge_of(double best_below, double log_prior) {
  SiblingEdge edge;
  edge.row.assign(layout().size(), 0.0F);
  edge.row[place("graph.log_prior")] = static_cast<float>(log_prior);
  edge.verified = best_below > -1.0;
  edge.log_gain = edge.verified ? best_below : 0.0;
  edge.best_below = best_below;
  return edge;
}

SiblingGroup group_of(const std::string& family, std::vector<SiblingEdge> edges) {
  return {family, "kernel", "state", true, std::move(edges)};
}

// Groups in which "setting.factor" decides which of four siblings pays. Priors and the other inputs
// say nothing of it.
std::vector<SiblingGroup> decided_groups(std::uint64_t seed, int count) {
  std::mt19937_64 random(seed);
  const auto number = [&] { return static_cast<float>(random() % 1000) / 1000.0F; };
  std::vector<SiblingGroup> groups;
  for (int group = 0; group < count; ++group) {
    std::vector<float> factors = {1.0F, 2.0F, 3.0F, 4.0F};
    std::ranges::shuffle(factors, random);
    std::vector<SiblingEdge> edges;
    const float occupancy = number();
    for (const float factor : factors) {
      const double noise = 0.02 * number();
      SiblingEdge edge = edge_of(0.2 * (factor - 2.0) + noise, std::log(0.1 + 0.5 * number()));
      edge.row[place("setting.factor")] = factor;
      edge.row[place("setting.width")] = number();
      edge.row[place("fact.occupancy")] = occupancy;
      edge.row[place("change.loops")] =
          random() % 2 == 0 ? number() : std::numeric_limits<float>::quiet_NaN();
      edges.push_back(std::move(edge));
    }
    groups.push_back(group_of("family" + std::to_string(group % 5), std::move(edges)));
  }
  return groups;
}

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
  EXPECT_EQ(model.error().code, ErrorCode::invalid_argument);
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

TEST(PolicyExamples, InputsAreStandardisedAndStepsLeftAsTheyAre) {
  std::vector<SiblingEdge> edges = {edge_of(0.0, -1.0), edge_of(0.5, -1.0)};
  edges[0].row[place("setting.factor")] = 1.0F;
  edges[1].row[place("setting.factor")] = 5.0F;
  edges[1].row[place("step.tile")] = 1.0F;
  edges[0].row[place("change.loops")] = std::nanf("");
  edges[1].row[place("change.loops")] = std::nanf("");  // never known: no input
  const std::vector<SiblingGroup> groups = {group_of("map", edges)};
  const policy::PolicyModel model = describe_inputs(groups, layout());
  ASSERT_EQ(model.inputs, (std::vector<std::string>{"step.tile", "setting.factor"}));
  EXPECT_EQ(model.means, (std::vector<float>{0.0F, 3.0F}));
  EXPECT_EQ(model.scales, (std::vector<float>{1.0F, 0.5F}));
  const auto examples = make_examples(groups, layout(), model);
  ASSERT_EQ(examples.size(), 1U);
  EXPECT_EQ(examples[0].rows[0], (std::vector<float>{0.0F, -1.0F}));
  EXPECT_EQ(examples[0].rows[1], (std::vector<float>{1.0F, 1.0F}));
  EXPECT_EQ(examples[0].returns, (std::vector<double>{0.0, 0.5}));
}

TEST(PolicyExamples, FamiliesWeighTheSame) {
  const SiblingGroup equal = group_of("big", {edge_of(0.1, -1.0), edge_of(0.11, -1.0)});
  const SiblingGroup decided = group_of("big", {edge_of(0.1, -1.0), edge_of(-1.0, -1.0)});
  SiblingGroup alone = decided;
  alone.family = "small";
  const std::vector<SiblingGroup> groups = {equal, decided, alone, decided};
  const auto examples = make_examples(groups, layout(), {});
  ASSERT_EQ(examples.size(), 4U);
  EXPECT_DOUBLE_EQ(examples[2].weight, 2.0);
  for (const std::size_t at : {0U, 1U, 3U})
    EXPECT_DOUBLE_EQ(examples[at].weight, 2.0 / 3.0);
  EXPECT_FALSE(examples[0].decided);
  EXPECT_TRUE(examples[1].decided);
  EXPECT_EQ(examples[1].verified, (std::vector<bool>{true, false}));
}

TEST(PolicyExamples, GroupsOfVariantsWeighLess) {
  const SiblingGroup own = group_of("map", {edge_of(0.1, -1.0), edge_of(-1.0, -1.0)});
  SiblingGroup derived = own;
  derived.derived = true;
  const auto weights = [&](const std::vector<SiblingGroup>& groups) {
    std::vector<double> result;
    for (const PolicyExample& example : make_examples(groups, layout(), {}))
      result.push_back(example.weight);
    return result;
  };
  // Half as much each ...
  const std::vector<double> few = weights({own, derived, own});
  EXPECT_DOUBLE_EQ(few[0], 3.0 / 2.5);
  EXPECT_DOUBLE_EQ(few[1], 1.5 / 2.5);
  // ... and all of them no more than the others.
  const std::vector<double> many = weights({own, derived, derived, derived, derived});
  EXPECT_DOUBLE_EQ(many[0], 2.5);
  EXPECT_DOUBLE_EQ(many[1], 2.5 / 4.0);
  // A family weighs the same whether it has variants, or nothing else.
  SiblingGroup alone = derived;
  alone.family = "sum";
  const std::vector<double> families = weights({own, derived, alone});
  EXPECT_DOUBLE_EQ(families[0] + families[1], families[2]);
}

TEST(PolicyExamples, SoftmaxStandsLargeLogits) {
  const std::vector<double> even = softmax(std::vector<double>{1e4, 1e4, -1e4});
  EXPECT_NEAR(even[0], 0.5, 1e-12);
  EXPECT_NEAR(even[2], 0.0, 1e-12);
  const std::vector<double> thirds = softmax(std::vector<double>{std::log(2.0), 0.0});
  EXPECT_NEAR(thirds[0], 2.0 / 3.0, 1e-12);
}

TEST(RankSiblings, CountsFamiliesAlike) {
  // Prior order is that of the edges.
  const auto ordered = [](const std::string& family, std::vector<double> values) {
    std::vector<SiblingEdge> edges;
    for (const double value : values)
      edges.push_back(edge_of(value, -static_cast<double>(edges.size())));
    return group_of(family, std::move(edges));
  };
  const std::vector<SiblingGroup> groups = {
      ordered("a", {0.5, 0.1, -1.0}),       // first
      ordered("a", {0.49, 0.1, 0.5}),       // as good as the best
      ordered("a", {-1.0, 0.1, 0.2, 0.3}),  // fourth
      ordered("b", {0.1, 0.5}),             // second
      ordered("b", {0.04, -1.0, 0.0}),      // nothing pays: left out
  };
  const RankingScore score = rank_siblings(groups, layout(), nullptr, RankedBy::best_below);
  EXPECT_EQ(score.groups, 4);
  EXPECT_EQ(score.families, 2);
  EXPECT_DOUBLE_EQ(score.top_one, (2.0 / 3.0 + 0.0) / 2.0);
  EXPECT_DOUBLE_EQ(score.top_three, (2.0 / 3.0 + 1.0) / 2.0);
  EXPECT_DOUBLE_EQ(score.mean_rank, ((1.0 + 1.0 + 4.0) / 3.0 + 2.0) / 2.0);
  const RankingScore none = rank_siblings({}, layout(), nullptr, RankedBy::best_below);
  EXPECT_EQ(none.groups, 0);
  EXPECT_EQ(none.mean_rank, 0.0);
}

TEST(RankSiblings, TellsTheStepsOwnGainFromWhatIsBelow) {
  SiblingEdge slow = edge_of(0.9, -1.0);
  slow.log_gain = 0.0;
  SiblingEdge wrong = edge_of(-1.0, -0.5);
  wrong.log_gain = 2.0;  // of what was not verified: means nothing
  const std::vector<SiblingGroup> groups = {group_of("a", {slow, wrong, edge_of(0.3, -2.0)})};
  EXPECT_DOUBLE_EQ(rank_siblings(groups, layout(), nullptr, RankedBy::best_below).mean_rank, 2.0);
  EXPECT_DOUBLE_EQ(rank_siblings(groups, layout(), nullptr, RankedBy::log_gain).mean_rank, 3.0);
}

}  // namespace
}  // namespace regraph::learn
