#include "regraph/step_graph.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace regraph::priors_test {
namespace {

StepGraph example() {
  StepGraph graph;
  for (const char* id : {"strong", "weak", "late"}) {
    Step step;
    step.id = step.name = id;
    step.evidence = {{"occupancy", Comparison::less, 0.5, 1.0}};
    EXPECT_TRUE(graph.add_step(step));
  }
  EXPECT_TRUE(graph.add_transition("init", "strong", {4.0, 2.0, {}}));
  EXPECT_TRUE(graph.add_transition("init", "weak", {1.1, 2.0, {}}));
  EXPECT_TRUE(graph.add_transition("strong", "late", {3.0, 2.0, {}}));
  return graph;
}

const std::vector<StepProposal> kAllSteps = {{"strong", {}, 1}, {"weak", {}, 1}, {"late", {}, 1}};

TEST(Priors, AreADistributionThatExcludesNothing) {
  const StepGraph graph = example();
  const std::vector<StepProposal> proposals = {
      {"strong", {{"f", "2"}}, 1}, {"strong", {{"f", "4"}}, 1}, {"weak", {}, 1}, {"alien", {}, 1}};
  const std::vector<double> priors = graph.priors({}, {}, {"h200"}, proposals);
  ASSERT_EQ(priors.size(), 4U);
  EXPECT_NEAR(std::accumulate(priors.begin(), priors.end(), 0.0), 1.0, 1e-12);
  for (const double prior : priors)
    EXPECT_GE(prior, 0.1 / 4);
  EXPECT_TRUE(graph.priors({}, {}, {"h200"}, {}).empty());
}

TEST(Priors, ParameterChoicesShareTheirStepsMass) {
  const StepGraph graph = example();
  const std::vector<StepProposal> one = {{"strong", {}, 1}, {"weak", {}, 1}};
  const std::vector<StepProposal> three = {{"strong", {{"f", "2"}}, 1},
                                           {"strong", {{"f", "4"}}, 1},
                                           {"strong", {{"f", "8"}}, 1},
                                           {"weak", {}, 1}};
  const double whole = graph.priors({}, {}, {""}, one)[0] - 0.1 / 2;
  const std::vector<double> parts = graph.priors({}, {}, {""}, three);
  EXPECT_DOUBLE_EQ(parts[0], parts[1]);
  EXPECT_NEAR(3 * (parts[0] - 0.1 / 4), whole, 1e-12);
}

TEST(Priors, FollowThePublishedGains) {
  const std::vector<double> priors = example().priors({}, {}, {""}, kAllSteps);
  EXPECT_GT(priors[0], 3 * priors[1]);
}

TEST(Priors, FollowTheHistory) {
  const StepGraph graph = example();
  const std::vector<std::string> history = {"strong"};
  EXPECT_GT(graph.priors(history, {}, {""}, kAllSteps)[2],
            graph.priors({}, {}, {""}, kAllSteps)[2]);
}

TEST(Priors, FollowTheEvidence) {
  const StepGraph graph = example();
  const std::vector<StepProposal> proposals = {{"strong", {}, 1}, {"alien", {}, 1}};
  const double argued = graph.priors({}, {{"occupancy", 0.1}}, {""}, proposals)[0];
  const double unknown = graph.priors({}, {}, {""}, proposals)[0];
  const double refuted = graph.priors({}, {{"occupancy", 0.9}}, {""}, proposals)[0];
  EXPECT_GT(argued, unknown);
  EXPECT_GT(unknown, refuted);
}

LearnedGains learned(TimeMethod method, std::int64_t families, double vote,
                     std::int64_t failures = 0) {
  LearnedGains gains;
  gains.by(method)["h200"] = {families,
                              families,
                              families,
                              static_cast<double>(families) * vote,
                              families + failures,
                              families,
                              static_cast<double>(families) * vote};
  return gains;
}

TEST(Priors, FollowWhatFamiliesSaid) {
  StepGraph graph = example();
  const double before = graph.priors({}, {}, {"h200"}, kAllSteps)[1];
  for (const auto& [step, vote] : {std::pair("weak", 1.5), std::pair("strong", 0.0)}) {
    EXPECT_TRUE(graph.set_learned(step, learned(TimeMethod::predicted, 30, vote)));
    EXPECT_TRUE(graph.set_learned("init", step, learned(TimeMethod::predicted, 30, vote)));
  }
  const std::vector<double> after = graph.priors({}, {}, {"h200"}, kAllSteps);
  EXPECT_GT(after[1], before);
  EXPECT_GT(after[1], after[0]);
}

TEST(Priors, ThreeLuckyRunsOfAKernelDoNotOutvoteThePublishedGain) {
  StepGraph graph = example();
  LearnedGains lucky;
  lucky.predicted["h200"] = {1, 1, 3, 1.0, 3, 3, 3.0};
  EXPECT_TRUE(graph.set_learned("weak", lucky));
  EXPECT_TRUE(graph.set_learned("init", "weak", lucky));
  const auto weak = graph.expectation("weak", true, {}, {}, {"h200"});
  EXPECT_GT(weak.log_gain, std::log(1.1));
  EXPECT_LT(weak.log_gain, 0.55);
}

TEST(Priors, MeasuredGainsAreNotMixedIntoPredictedOnes) {
  StepGraph graph = example();
  EXPECT_TRUE(graph.set_learned("weak", learned(TimeMethod::measured, 30, 2.0)));
  const GainSource predicted{"h200", TimeMethod::predicted};
  const GainSource measured{"h200", TimeMethod::measured};
  const auto expected = [&](const GainSource& source) {
    return graph.expectation("weak", true, {}, {}, source).log_gain;
  };
  EXPECT_NEAR(expected(predicted), std::log(1.1), 1e-12);
  EXPECT_GT(expected(measured), 1.0);
}

TEST(Priors, FailuresLowerAStepsPriorAlthoughTheySayNothingOfItsGain) {
  StepGraph sound = example();
  StepGraph failing = example();
  EXPECT_TRUE(sound.set_learned("strong", learned(TimeMethod::predicted, 10, 1.0)));
  EXPECT_TRUE(failing.set_learned("strong", learned(TimeMethod::predicted, 10, 1.0, 90)));
  EXPECT_LT(failing.priors({}, {}, {"h200"}, kAllSteps)[0],
            sound.priors({}, {}, {"h200"}, kAllSteps)[0]);
}

// mu of priors.cpp by hand: strong, pi = ln 4, w0 = 2; the edge's own weight is 2, so w1 = 4.
TEST(Priors, ShrinkAsTheFormulaSays) {
  StepGraph graph = example();
  LearnedGains of_step;
  of_step.predicted["h200"] = {2, 2, 2, 1.0, 2, 2, 1.0};
  of_step.predicted["a100"] = {1, 1, 1, 0.25, 1, 1, 0.25};
  EXPECT_TRUE(graph.set_learned("strong", of_step));
  EXPECT_TRUE(graph.set_learned("init", "strong", of_step));
  const double step = (8.0 * std::log(4.0) + 1.25) / (8.0 + 3.0);
  const double others = (6.0 * step + 0.25) / (6.0 + 1.0);
  const double own = (4.0 * others + 1.0) / (4.0 + 2.0);
  const auto expected = graph.expectation("strong", true, {}, {}, {"h200"});
  EXPECT_NEAR(expected.log_gain, own, 1e-12);
  EXPECT_NEAR(expected.published, std::log(4.0), 1e-12);
  EXPECT_NEAR(expected.success, 52.0 / 53.0, 1e-12);
  EXPECT_NEAR(expected.score, 0.02 + 0.5 * own * 52.0 / 53.0, 1e-12);
}

TEST(Priors, CorrectionsAreAddedToLogits) {
  const StepGraph graph = example();
  std::vector<StepProposal> proposals = kAllSteps;
  const auto share = [](double prior) { return (prior - 0.1 / 3.0) / 0.9; };
  const std::vector<double> before = graph.priors({}, {}, {"h200"}, proposals);
  proposals[1].score.correction = 1.0;
  const std::vector<double> shifts = {0.0, 0.5, 0.0};
  const std::vector<double> after = graph.priors({}, {}, {"h200"}, proposals, shifts);
  EXPECT_NEAR(std::log(share(after[1]) / share(after[0])),
              std::log(share(before[1]) / share(before[0])) + 1.5, 1e-9);
  EXPECT_NEAR(std::accumulate(after.begin(), after.end(), 0.0), 1.0, 1e-12);
}

// The formula of priors.cpp, computed by hand for one case.
TEST(Priors, FollowTheFormula) {
  const StepGraph graph = example();
  const std::vector<std::string> history = {"strong"};
  const Facts facts = {{"occupancy", 0.1}};
  const double success = 0.8;
  // late: listed after strong (weight 1); from init (weight 1/2) half its mean gain, ln 3.
  const double late = 0.02 + (std::log(3.0) + 0.5 * 0.5 * std::log(3.0)) / 1.5 * success;
  // weak: from init ln 1.1; from strong half of that.
  const double weak = 0.02 + (0.5 * std::log(1.1) + 0.5 * std::log(1.1)) / 1.5 * success;
  const std::vector<StepProposal> proposals = {{"late", {}, 1}, {"weak", {}, 1}};
  const std::vector<double> priors = graph.priors(history, facts, {""}, proposals);
  EXPECT_NEAR(priors[0], 0.9 * late / (late + weak) + 0.05, 1e-12);
  EXPECT_NEAR(priors[1], 0.9 * weak / (late + weak) + 0.05, 1e-12);
}

StepProposal named(const char* step, double share, int opinions) {
  StepProposal proposal;
  proposal.step = step;
  proposal.advice.named_share = share;
  proposal.advice.opinions = opinions;
  return proposal;
}

// (k P + n share) / (k + n) with k = 2.
TEST(Priors, OpinionsEnterLikeObservations) {
  const StepGraph graph = example();
  const std::vector<double> without = graph.priors({}, {}, {""}, kAllSteps);
  const std::vector<StepProposal> one = {named("strong", 0.0, 1), named("weak", 0.75, 1),
                                         named("late", 0.25, 1)};
  const std::vector<double> with = graph.priors({}, {}, {""}, one);
  EXPECT_NEAR(with[0], without[0] * 2 / 3, 1e-12);
  EXPECT_NEAR(with[1], without[1] * 2 / 3 + 0.75 / 3, 1e-12);
  EXPECT_NEAR(with[2], without[2] * 2 / 3 + 0.25 / 3, 1e-12);
  std::vector<StepProposal> many = one;
  for (StepProposal& proposal : many)
    proposal.advice.opinions = 8;
  EXPECT_NEAR(graph.priors({}, {}, {""}, many)[1], without[1] * 0.2 + 0.75 * 0.8, 1e-12);
}

// The graph knows nothing against a step that it does not know.
TEST(Priors, UnknownStepsThatWereNamedStandBesideTheKnownOnes) {
  const StepGraph graph = example();
  const std::vector<StepProposal> unnamed = {named("strong", 0.0, 0), named("made_up", 0.0, 0)};
  const std::vector<double> without = graph.priors({}, {}, {""}, unnamed);
  EXPECT_LT(without[1], without[0]);
  // Named first, it is tried first.
  const std::vector<StepProposal> both = {named("strong", 1.0 / 3, 1),
                                          named("made_up", 2.0 / 3, 1)};
  const std::vector<double> with = graph.priors({}, {}, {""}, both);
  EXPECT_GT(with[1], with[0]);
  EXPECT_NEAR(with[0] + with[1], 1.0, 1e-12);
}

TEST(Priors, OpinionsOnWhatCannotBeDoneAreShared) {
  const StepGraph graph = example();
  // Half of the opinions named a step that is not proposed here; the other half counts in full.
  std::vector<StepProposal> proposals = {named("strong", 0.0, 2), named("weak", 0.5, 2),
                                         named("weak", 0.5, 2)};
  proposals[1].parameters = {{"f", "2"}};
  const std::vector<double> priors = graph.priors({}, {}, {""}, proposals);
  EXPECT_NEAR(std::accumulate(priors.begin(), priors.end(), 0.0), 1.0, 1e-12);
  EXPECT_NEAR(priors[1], priors[2], 1e-12);
  EXPECT_GT(priors[1], 0.25);
  // Opinions that named nothing of use change nothing.
  const std::vector<StepProposal> nothing = {named("strong", 0.0, 5), named("weak", 0.0, 5),
                                             named("late", 0.0, 5)};
  EXPECT_EQ(graph.priors({}, {}, {""}, nothing), graph.priors({}, {}, {""}, kAllSteps));
}

}  // namespace
}  // namespace regraph::priors_test
