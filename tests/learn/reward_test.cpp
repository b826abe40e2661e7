#include "learn/reward.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace regraph::learn::reward_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

std::vector<AnswerOutcome> all_outcomes() {
  std::vector<AnswerOutcome> result;
  result.reserve(kAnswerOutcomeCount);
  for (int i = 0; i < kAnswerOutcomeCount; ++i)
    result.push_back(static_cast<AnswerOutcome>(i));
  return result;
}

std::vector<RewardKind> all_kinds() {
  std::vector<RewardKind> result;
  result.reserve(kRewardKindCount);
  for (int i = 0; i < kRewardKindCount; ++i)
    result.push_back(static_cast<RewardKind>(i));
  return result;
}

RewardFacts facts_of(AnswerOutcome outcome, double seconds = 1e-3, double parent = 1e-3,
                     double original = 1e-3) {
  return {outcome, seconds, parent, original, false};
}
RewardFacts faster_by(double speedup) {
  return facts_of(AnswerOutcome::correct, 1e-3 / speedup);
}

double value(RewardKind kind, const RewardFacts& facts) {
  const std::optional<double> result = reward(kind, facts);
  EXPECT_TRUE(result.has_value()) << name(kind) << " of " << name(facts.outcome);
  return result.value_or(kNoNumber);
}
double regraph_value(const RewardFacts& facts) {
  return value(RewardKind::regraph, facts);
}

TEST(Reward, NamesAreReadAgain) {
  std::set<std::string> names;
  for (const AnswerOutcome outcome : all_outcomes()) {
    EXPECT_EQ(read_answer_outcome(name(outcome)), outcome);
    names.insert(name(outcome));
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kAnswerOutcomeCount));
  EXPECT_STREQ(name(AnswerOutcome::not_compiled), "not_compiled");
  EXPECT_STREQ(name(AnswerOutcome::same_machine_code), "same_machine_code");
  EXPECT_STREQ(name(AnswerOutcome::no_verdict), "no_verdict");
  for (const RewardKind kind : all_kinds()) {
    EXPECT_EQ(read_reward_kind(name(kind)), kind);
    EXPECT_STREQ(reward_names()[static_cast<std::size_t>(kind)], name(kind));
  }
  EXPECT_STREQ(name(RewardKind::triton_rl_code), "triton_rl_code");
  EXPECT_STREQ(name(RewardKind::toronto_mid_end), "toronto_mid_end");
  EXPECT_FALSE(read_reward_kind("speed"));
  EXPECT_FALSE(read_answer_outcome(""));
}

TEST(Reward, IsFiniteOrNone) {
  const std::vector<double> times = {0.0,
                                     -1.0,
                                     kNoNumber,
                                     kInfinity,
                                     -kInfinity,
                                     1e-9,
                                     1e-3,
                                     1.0,
                                     std::numeric_limits<double>::min(),
                                     std::numeric_limits<double>::denorm_min(),
                                     std::numeric_limits<double>::max()};
  for (const RewardKind kind : all_kinds()) {
    for (const AnswerOutcome outcome : all_outcomes()) {
      for (const double seconds : times) {
        for (const double parent : times) {
          for (const double original : times) {
            const RewardFacts facts = facts_of(outcome, seconds, parent, original);
            const std::optional<double> result = reward(kind, facts);
            EXPECT_TRUE(std::isfinite(result.value_or(0.0))) << name(kind);
            const bool usable =
                std::isfinite(seconds) && seconds > 0.0 && std::isfinite(parent) && parent > 0.0;
            const bool none = outcome == AnswerOutcome::no_verdict ||
                              (outcome == AnswerOutcome::correct && !usable);
            EXPECT_FALSE(none && result.has_value()) << name(kind);
          }
        }
      }
    }
  }
}

TEST(Reward, FailuresNeedNoTimes) {
  for (const RewardKind kind : all_kinds()) {
    for (const AnswerOutcome outcome :
         {AnswerOutcome::unreadable, AnswerOutcome::suspicious, AnswerOutcome::not_compiled,
          AnswerOutcome::not_launched, AnswerOutcome::wrong}) {
      EXPECT_EQ(reward(kind, facts_of(outcome, 0.0, 0.0, 0.0)), reward(kind, facts_of(outcome)));
      EXPECT_TRUE(reward(kind, facts_of(outcome)).has_value()) << name(kind);
    }
  }
  // A no-op takes the parent's time, whatever was measured.
  EXPECT_EQ(
      reward(RewardKind::regraph, facts_of(AnswerOutcome::same_machine_code, 0.0, kNoNumber, 0.0)),
      -0.3);
}

TEST(Reward, WantsTheOriginalOnlyWhereItIsCompared) {
  const RewardFacts facts = facts_of(AnswerOutcome::correct, 1e-3, 1e-3, 0.0);
  for (const RewardKind kind :
       {RewardKind::regrapht, RewardKind::kernel_compare, RewardKind::toronto_mid_end,
        RewardKind::cuda_agent, RewardKind::triton_rl_plan})
    EXPECT_FALSE(reward(kind, facts)) << name(kind);
  for (const RewardKind kind :
       {RewardKind::regraph, RewardKind::log_speedup, RewardKind::toronto_frontend,
        RewardKind::triton_gym, RewardKind::triton_rl_code})
    EXPECT_TRUE(reward(kind, facts)) << name(kind);
}

TEST(RegraphReward, IsTheTable) {
  EXPECT_EQ(regraph_value(facts_of(AnswerOutcome::unreadable)), -1.0);
  EXPECT_EQ(regraph_value(facts_of(AnswerOutcome::suspicious)), -1.0);
  EXPECT_EQ(regraph_value(facts_of(AnswerOutcome::not_compiled)), -0.8);
  EXPECT_EQ(regraph_value(facts_of(AnswerOutcome::not_launched)), -0.7);
  EXPECT_EQ(regraph_value(facts_of(AnswerOutcome::unchanged)), -0.6);
  EXPECT_EQ(regraph_value(facts_of(AnswerOutcome::wrong)), -0.5);
  EXPECT_EQ(regraph_value(facts_of(AnswerOutcome::same_machine_code)), -0.3);
  RewardFacts no_op = facts_of(AnswerOutcome::same_machine_code);
  no_op.step_is_no_op = true;
  EXPECT_EQ(regraph_value(no_op), 0.0);
  EXPECT_DOUBLE_EQ(regraph_value(faster_by(1.0)), 0.2);
  EXPECT_DOUBLE_EQ(regraph_value(faster_by(1.009)), 0.2);  // noise
  EXPECT_DOUBLE_EQ(regraph_value(faster_by(0.991)), 0.2);
  EXPECT_NEAR(regraph_value(faster_by(2.0)), 0.6, 1e-12);
  EXPECT_NEAR(regraph_value(faster_by(4.0)), 1.0, 1e-12);
  EXPECT_DOUBLE_EQ(regraph_value(faster_by(100.0)), 1.0);
  EXPECT_NEAR(regraph_value(faster_by(1.0 / std::sqrt(2.0))), 0.0, 1e-12);
  EXPECT_DOUBLE_EQ(regraph_value(faster_by(0.01)), 0.0);
}

TEST(RegraphReward, KeepsItsOrder) {
  const std::vector<AnswerOutcome> worst_first = {
      AnswerOutcome::unreadable, AnswerOutcome::not_compiled, AnswerOutcome::not_launched,
      AnswerOutcome::unchanged,  AnswerOutcome::wrong,        AnswerOutcome::same_machine_code};
  for (std::size_t i = 1; i < worst_first.size(); ++i) {
    EXPECT_LT(regraph_value(facts_of(worst_first[i - 1])), regraph_value(facts_of(worst_first[i])));
  }
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> exponent(-12.0, 3.0);
  for (int i = 0; i < 20'000; ++i) {
    const double seconds = std::pow(10.0, exponent(random));
    const double parent = std::pow(10.0, exponent(random));
    const double correct =
        regraph_value(facts_of(AnswerOutcome::correct, seconds, parent, seconds * parent));
    EXPECT_GE(correct, 0.0);
    EXPECT_LE(correct, 1.0);
    for (const AnswerOutcome outcome : all_outcomes()) {
      if (outcome == AnswerOutcome::correct || outcome == AnswerOutcome::no_verdict) continue;
      EXPECT_LT(regraph_value(facts_of(outcome, seconds, parent)), 0.0);
    }
    // A no-op that was not asked for is worth less than any correct answer; one that was, not more.
    RewardFacts no_op = facts_of(AnswerOutcome::same_machine_code, seconds, parent);
    no_op.step_is_no_op = true;
    EXPECT_LE(regraph_value(no_op), correct);
    // The text of the parent is worth less than an honest try that went wrong, and so is a cheat.
    const double wrong = regraph_value(facts_of(AnswerOutcome::wrong, seconds, parent));
    EXPECT_LT(regraph_value(facts_of(AnswerOutcome::unchanged, seconds, parent)), wrong);
    EXPECT_LT(regraph_value(facts_of(AnswerOutcome::suspicious, seconds, parent)), wrong);
  }
}

TEST(Reward, GrowsWithTheSpeedup) {
  for (const RewardKind kind : all_kinds()) {
    double before = -kInfinity;
    for (double log_speedup = -6.0; log_speedup <= 6.0; log_speedup += 1.0 / 512) {
      const double now = value(kind, faster_by(std::exp(log_speedup)));
      EXPECT_GE(now, before) << name(kind) << " at " << log_speedup;
      before = now;
    }
  }
  // Those that pay for speed at all pay more for twice of it.
  for (const RewardKind kind :
       {RewardKind::regraph, RewardKind::log_speedup, RewardKind::regrapht,
        RewardKind::kernel_compare, RewardKind::toronto_mid_end, RewardKind::triton_gym,
        RewardKind::cuda_agent, RewardKind::triton_rl_plan})
    EXPECT_GT(value(kind, faster_by(1.5)), value(kind, faster_by(0.75))) << name(kind);
  for (const RewardKind kind : {RewardKind::toronto_frontend, RewardKind::triton_rl_code})
    EXPECT_EQ(value(kind, faster_by(1.5)), value(kind, faster_by(0.75))) << name(kind);
}

TEST(PublishedReward, IsAsPublished) {
  const RewardFacts twice = faster_by(2.0);
  const RewardFacts half = faster_by(0.5);
  const RewardFacts broken = facts_of(AnswerOutcome::not_compiled);
  const RewardFacts wrong = facts_of(AnswerOutcome::wrong);
  const auto expect = [&](RewardKind kind, double of_twice, double of_half, double of_wrong,
                          double of_broken) {
    EXPECT_NEAR(value(kind, twice), of_twice, 1e-12) << name(kind);
    EXPECT_NEAR(value(kind, half), of_half, 1e-12) << name(kind);
    EXPECT_EQ(value(kind, wrong), of_wrong) << name(kind);
    EXPECT_EQ(value(kind, broken), of_broken) << name(kind);
  };
  expect(RewardKind::log_speedup, std::log(2.0), -std::log(2.0), -1.0, -1.0);
  expect(RewardKind::regrapht, 2.0, -0.5, -1.0, -1.0);
  expect(RewardKind::kernel_compare, 1.0, 0.8, 0.4, 0.0);
  expect(RewardKind::toronto_frontend, 1.0, 1.0, -10.0, -10.0);
  expect(RewardKind::toronto_mid_end, 3.0, 1.5, -10.0, -10.0);
  expect(RewardKind::triton_gym, 20.0, 5.0, -5.0, -10.0);
  expect(RewardKind::cuda_agent, 3.0, 1.0, -1.0, -1.0);
  expect(RewardKind::triton_rl_plan, 2.0, 0.5, 0.0, 0.0);
  expect(RewardKind::triton_rl_code, 1.0, 1.0, 0.0, 0.0);
  EXPECT_NEAR(value(RewardKind::triton_rl_plan, faster_by(8.0)), 2.0, 1e-12);
  // Faster than the original alone; by less than the margin.
  EXPECT_EQ(value(RewardKind::cuda_agent, facts_of(AnswerOutcome::correct, 0.5e-3, 0.5e-3, 1e-3)),
            2.0);
  EXPECT_EQ(value(RewardKind::cuda_agent, faster_by(1.04)), 1.0);
}

// Where an answer that was slower than its parent is worth less than one that failed.
TEST(PublishedReward, MayPreferAFailureToASlowAnswer) {
  const RewardFacts slow = faster_by(0.1);
  EXPECT_LT(value(RewardKind::log_speedup, slow),
            value(RewardKind::log_speedup, facts_of(AnswerOutcome::wrong)));
  for (const RewardKind kind : all_kinds()) {
    if (kind == RewardKind::log_speedup) continue;
    EXPECT_GT(value(kind, slow), value(kind, facts_of(AnswerOutcome::wrong))) << name(kind);
  }
}

// Why none of them is the default: to each the parent's own text is a correct answer.
TEST(PublishedReward, PaysForACopy) {
  for (const RewardKind kind : all_kinds()) {
    const double copy = value(kind, facts_of(AnswerOutcome::unchanged));
    const double renamed = value(kind, facts_of(AnswerOutcome::same_machine_code));
    const double wrong = value(kind, facts_of(AnswerOutcome::wrong));
    const double slower = value(kind, faster_by(0.8));
    if (kind == RewardKind::regraph) {
      EXPECT_LT(copy, wrong);
      EXPECT_LT(renamed, slower);
      continue;
    }
    EXPECT_GT(copy, wrong) << name(kind);
    EXPECT_GE(copy, slower) << name(kind);
    EXPECT_EQ(copy, renamed) << name(kind);
    EXPECT_FALSE(reward(kind, facts_of(AnswerOutcome::unchanged, 1e-3, 0.0))) << name(kind);
  }
  // Of a parent that is faster than the original a copy is paid as if it had made it so.
  const RewardFacts late_copy = facts_of(AnswerOutcome::unchanged, 0.0, 0.5e-3, 1e-3);
  EXPECT_EQ(value(RewardKind::kernel_compare, late_copy), 1.0);
  EXPECT_EQ(value(RewardKind::regrapht, late_copy), 2.0);
  EXPECT_EQ(value(RewardKind::cuda_agent, late_copy), 2.0);
  EXPECT_EQ(value(RewardKind::triton_rl_plan, late_copy), 2.0);
  EXPECT_EQ(value(RewardKind::toronto_mid_end, late_copy), 3.0);
}

// A guardrail that fires is never worth more than honest work that failed.
TEST(Reward, PaysNoCheats) {
  for (const RewardKind kind : all_kinds()) {
    const double cheat = value(kind, facts_of(AnswerOutcome::suspicious));
    for (const AnswerOutcome outcome : {AnswerOutcome::unreadable, AnswerOutcome::not_compiled,
                                        AnswerOutcome::not_launched, AnswerOutcome::wrong})
      EXPECT_LE(cheat, value(kind, facts_of(outcome))) << name(kind);
    EXPECT_LT(cheat, value(kind, faster_by(1.2))) << name(kind);
  }
}

}  // namespace
}  // namespace regraph::learn::reward_test
