#include "search/known_states.h"

#include "regraph/combined_steps.h"

#include <gtest/gtest.h>

#include <cmath>

namespace regraph::known_states_test {
namespace {

Evaluation evaluation(TimeMethod method, double seconds, double predicted_seconds = 0.0) {
  Evaluation result;
  result.verdict = Verdict::correct;
  result.time = {seconds, seconds, seconds, 1, method};
  if (predicted_seconds > 0.0) result.facts["predicted_seconds"] = predicted_seconds;
  return result;
}

StepProposal unroll() {
  StepProposal proposal;
  proposal.step = "loop_unroll";
  return proposal;
}

// A chain of states, each made from the one before.
class Chain {
 public:
  Chain() : states_(graph_, config_) { states_.add_original(Candidate{}); }

  void judge(Evaluation evaluation) {
    (void)states_.judge(last_, std::move(evaluation), {unroll()});
  }
  void extend() {
    Ticket ticket;
    ticket.kind = TicketKind::measure;
    ticket.parent = last_;
    ticket.node = ++last_;
    states_.add(ticket, std::make_shared<const Candidate>());
  }
  [[nodiscard]] double correction() const { return states_.measured_over_predicted(last_); }

 private:
  const StepGraph graph_;
  const SearchConfig config_;
  KnownStates states_;
  std::uint32_t last_ = 0;
};

TEST(KnownStates, ThePredictionsErrorIsThatOfTheNearestMeasuredAncestor) {
  Chain chain;
  chain.judge(evaluation(TimeMethod::measured, 6.0, 4.0));
  EXPECT_DOUBLE_EQ(chain.correction(), 1.5);
  chain.extend();
  chain.judge(evaluation(TimeMethod::predicted, 9.0));
  EXPECT_DOUBLE_EQ(chain.correction(), 1.5) << "left at its prediction: its parent's counts";
  chain.extend();
  chain.judge(evaluation(TimeMethod::measured, 1.0, 2.0));
  EXPECT_DOUBLE_EQ(chain.correction(), 0.5);
  chain.extend();
  chain.judge(evaluation(TimeMethod::measured, 1.0));
  EXPECT_DOUBLE_EQ(chain.correction(), 0.5) << "the model had no time for it";
}

TEST(KnownStates, WithoutMeasurementsThereIsNoError) {
  Chain chain;
  chain.judge(evaluation(TimeMethod::predicted, 6.0));
  EXPECT_EQ(chain.correction(), 0.0);
}

// States by hand: state n is made from `parent` by `step` and takes `seconds`.
class Family {
 public:
  Family() : states_(graph_, config_) {
    states_.add_original(Candidate{});
    (void)states_.judge(0, evaluation(TimeMethod::predicted, 8.0), {});
  }
  void add(std::uint32_t parent, const StepProposal& step, double seconds,
           std::vector<StepProposal> proposals = {}) {
    Ticket ticket;
    ticket.kind = TicketKind::measure;
    ticket.parent = parent;
    ticket.node = states_.count();
    // The parent must offer the step.
    (void)states_.judge(parent, states_.at(parent).evaluation, {step});
    states_.add(ticket, std::make_shared<const Candidate>());
    (void)states_.judge(ticket.node, evaluation(TimeMethod::predicted, seconds),
                        std::move(proposals));
  }
  void tried(std::uint32_t parent, std::optional<std::uint32_t> child, const StepProposal& step,
             const std::string& reason, double log_gain = 0.0) {
    AttemptRecord attempt;
    attempt.parent = parent;
    attempt.child = child;
    attempt.step = step;
    attempt.verified = reason.empty();
    attempt.reason = reason;
    attempt.log_gain = log_gain;
    states_.learn(attempt, "because", true);
  }
  static StepProposal step(const std::string& id, const std::string& title = "") {
    StepProposal proposal;
    proposal.step = id;
    proposal.advice.title = title;
    proposal.parameters = {{"by", "model"}};
    return proposal;
  }
  [[nodiscard]] const KnownStates& states() const { return states_; }

 private:
  const StepGraph graph_;
  const SearchConfig config_;
  KnownStates states_;
};

TEST(KnownStates, ExpandersAreToldTheWayAndWhatWasTriedOnIt) {
  Family family;
  family.add(0, Family::step("swap"), 4.0);
  family.add(0, Family::step("unroll"), 7.0);
  StepProposal leap = Family::step(kLeap);
  leap.parameters["plan"] = "tile + pad";
  family.add(1, leap, 2.0);
  family.tried(0, 1, Family::step("swap"), "", std::log(2.0));
  family.tried(0, 2, Family::step("unroll"), "", std::log(8.0 / 7.0));
  family.tried(1, std::nullopt, Family::step("vectorize"), "declined");
  family.tried(1, 3, leap, "", std::log(2.0));
  family.tried(3, std::nullopt, Family::step("hints"), "wrong_result");
  const ExpansionContext context = family.states().context_at(3, true);
  EXPECT_EQ(context.history, (std::vector<std::string>{"swap", "tile", "pad"}));
  ASSERT_EQ(context.story.path.size(), 2U);
  EXPECT_EQ(context.story.path[0].seconds_before, 8.0);
  EXPECT_EQ(context.story.path[1].seconds_before, 4.0);
  EXPECT_EQ(context.story.path[1].step.step, kLeap);
  // What became the way is not among what was tried.
  ASSERT_EQ(context.story.tried.size(), 3U);
  EXPECT_EQ(context.story.tried[0].step.step, "unroll");
  EXPECT_EQ(context.story.tried[0].steps_back, 2);
  EXPECT_EQ(context.story.tried[1].reason, "declined");
  EXPECT_EQ(context.story.tried[1].steps_back, 1);
  EXPECT_EQ(context.story.tried[2].steps_back, 0);
  EXPECT_EQ(context.story.tried[2].message, "because");
}

TEST(KnownStates, StatesThatWentAnotherWayAreOfferedToBeCombined) {
  Family family;
  family.add(0, Family::step("swap"), 4.0);
  family.add(0, Family::step("unroll"), 6.0);
  family.add(0, Family::step("hints"), 7.9);  // too little to be wanted
  family.add(1, Family::step("unroll"), 3.0);
  const ExpansionContext here = family.states().context_at(2, true);
  ASSERT_EQ(here.story.others.size(), 2U);
  EXPECT_EQ(here.story.others[0].state, 4U);  // the fastest first
  EXPECT_EQ(here.story.others[1].state, 1U);
  EXPECT_NEAR(here.story.others[1].log_gain, std::log(2.0), 1e-12);
  EXPECT_EQ(here.story.others[1].steps.size(), 1U);
  EXPECT_EQ(here.story.others[1].common_seconds, 8.0);
  // Not with what lies on the way, nor with what did nothing else.
  const ExpansionContext below = family.states().context_at(4, true);
  EXPECT_TRUE(below.story.others.empty());
  StepProposal combination = Family::step(kCombine);
  combination.parameters["with"] = "1";
  ASSERT_EQ(family.states().context_of(2, combination, true).story.others.size(), 1U);
  combination.parameters["with"] = "3";
  EXPECT_TRUE(family.states().context_of(2, combination, true).story.others.empty());
  combination.parameters["with"] = "99";
  EXPECT_TRUE(family.states().context_of(2, combination, true).story.others.empty());
}

TEST(KnownStates, StepsThatWereMadeUpAreKeptWithWhatTheyBrought) {
  Family family;
  const StepProposal made_up = Family::step("lane_wavefront", "Lane wavefront");
  family.add(0, Family::step("swap"), 4.0, {made_up, Family::step("unroll")});
  family.add(1, made_up, 2.0, {made_up});
  family.tried(1, 2, made_up, "", std::log(2.0));
  family.tried(2, std::nullopt, made_up, "declined");
  family.tried(2, std::nullopt, made_up, "refused");
  ASSERT_EQ(family.states().new_steps().size(), 1U);
  const NewStepRecord& record = family.states().new_steps()[0];
  EXPECT_EQ(record.id, "lane_wavefront");
  EXPECT_EQ(record.title, "Lane wavefront");
  EXPECT_EQ(record.tries, 2);  // one that was declined was none
  EXPECT_EQ(record.verified, 1);
  EXPECT_NEAR(record.best_log_gain, std::log(2.0), 1e-12);
  EXPECT_EQ(family.states().context_at(2, true).story.new_steps.size(), 1U);
}

TEST(KnownStates, WhatIsSaidOfOnePlanIsNotSaidOfAnother) {
  Family family;
  StepProposal one = Family::step(kLeap);
  StepProposal other = one;
  one.parameters["plan"] = "tile + pad";
  other.parameters["plan"] = "swap + unroll";
  StepProposal wide = Family::step("tile");
  wide.parameters["depth"] = "32";
  family.tried(0, std::nullopt, one, "declined");
  family.tried(0, std::nullopt, wide, "declined");
  EXPECT_EQ(family.states().context_of(0, one, true).story.failures.size(), 1U);
  EXPECT_TRUE(family.states().context_of(0, other, true).story.failures.empty());
  EXPECT_EQ(family.states().context_of(0, Family::step("tile"), true).story.failures.size(), 1U);
}

// Whether leaps pay is learned from this very search, also where nothing else is.
TEST(KnownStates, LeapsThatPayAreTriedSooner) {
  StepProposal leap = Family::step(kLeap);
  leap.parameters["plan"] = "tile + pad";
  const StepProposal single = Family::step("hints");
  const auto prior_of_leap = [&](double leap_gain) {
    Family family;
    family.add(0, leap, 2.0);
    family.add(0, single, 7.0);
    for (int tries = 0; tries < 3; ++tries) {
      family.tried(0, 1, leap, "", leap_gain);
      family.tried(0, 2, single, "", 0.1);
    }
    StepNumbers numbers;
    const auto seeds =
        family.states().seeds({}, {}, {leap, single}, family.states().experience(), numbers);
    return seeds[0].prior;
  };
  EXPECT_GT(prior_of_leap(1.0), 0.5);
  EXPECT_LT(prior_of_leap(-0.5), 0.5);
}

}  // namespace
}  // namespace regraph::known_states_test
