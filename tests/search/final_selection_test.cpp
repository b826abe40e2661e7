#include "search/final_selection.h"

#include "base/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

namespace regraph::final_selection_test {
namespace {

TimeEstimate around(double median, double spread, TimeMethod method, int samples = 1) {
  return {median, median * (1.0 - spread), median * (1.0 + spread), samples, method};
}

Evaluation correct(const TimeEstimate& time) {
  Evaluation evaluation;
  evaluation.verdict = Verdict::correct;
  evaluation.time = time;
  return evaluation;
}

// A device with true times, noise by draw, and a clock that drifts from call to call.
class Device {
 public:
  Device(std::map<std::uint32_t, double> times, TimeMethod method)
      : times_(std::move(times)), method_(method) {}

  std::optional<Evaluation> operator()(std::uint32_t state, const EvaluationBudget& budget) {
    EXPECT_EQ(budget.effort, EvaluationBudget::Effort::confirmation);
    ++calls[state];
    repetitions[state] += budget.repetitions;
    seeds.insert(budget.seed);
    if (broken.contains(state)) {
      Evaluation evaluation;
      evaluation.verdict = Verdict::data_race;
      return evaluation;
    }
    const double noise = noise_ * (to_unit_interval(random_bits(99, state, calls[state])) - 0.5);
    const double time = times_.at(state) * std::exp(noise + drift_ * total_calls_++);
    return correct(around(time, 0.01, method_, budget.repetitions));
  }

  std::map<std::uint32_t, int> calls;
  std::map<std::uint32_t, int> repetitions;
  std::set<std::uint64_t> seeds;
  std::set<std::uint32_t> broken;
  double noise_ = 0.0;
  double drift_ = 0.0;

 private:
  std::map<std::uint32_t, double> times_;
  TimeMethod method_;
  int total_calls_ = 0;
};

std::vector<Finalist> finalists(const std::vector<std::uint32_t>& states, TimeMethod method) {
  std::vector<Finalist> result;
  for (const std::uint32_t state : states) {
    result.push_back({state, correct(around(1e-3, 0.01, method))});
  }
  return result;
}

TEST(SpeedVerdict, HasOneNameEach) {
  EXPECT_STREQ(name(SpeedVerdict::fast), "FAST");
  EXPECT_STREQ(name(SpeedVerdict::slow), "SLOW");
  EXPECT_STREQ(name(SpeedVerdict::same), "SAME");
  EXPECT_STREQ(name(SpeedVerdict::ambiguous), "AMBIGUOUS");
}

TEST(SearchOutcome, ClaimsOnlyWhatIsFast) {
  SearchOutcome outcome;
  outcome.states.resize(2);
  outcome.states[0].candidate = std::make_shared<const Candidate>();
  for (const SpeedVerdict verdict :
       {SpeedVerdict::slow, SpeedVerdict::same, SpeedVerdict::ambiguous}) {
    outcome.verdict = verdict;
    EXPECT_FALSE(outcome.improved());
    EXPECT_TRUE(outcome.verified());  // the original
  }
  outcome.verdict = SpeedVerdict::fast;
  outcome.best_state = 1;
  outcome.log_speedup = 0.5;
  EXPECT_TRUE(outcome.improved());
  EXPECT_FALSE(outcome.verified());
  outcome.confirmed = true;
  EXPECT_TRUE(outcome.verified());
  outcome.withdraw_claim(outcome.states.front(), SpeedVerdict::ambiguous);
  EXPECT_FALSE(outcome.improved());
  EXPECT_EQ(outcome.best_state, 0U);
  EXPECT_EQ(outcome.log_speedup, 0.0);
}

TEST(CompareTimes, NeedsSeparatedIntervalsForAClaim) {
  const auto time = [](double low, double median, double high) {
    return TimeEstimate{median, low, high, 5, TimeMethod::measured};
  };
  EXPECT_EQ(compare_times(time(1, 2, 3), time(4, 5, 6)), SpeedVerdict::fast);
  EXPECT_EQ(compare_times(time(4, 5, 6), time(1, 2, 3)), SpeedVerdict::slow);
  EXPECT_EQ(compare_times(time(1, 2, 3), time(1.5, 2.5, 3.5)), SpeedVerdict::same);
  EXPECT_EQ(compare_times(time(1, 2, 4.2), time(4, 5, 6)), SpeedVerdict::ambiguous);
  EXPECT_EQ(compare_times(time(1, 2, 3), time(3, 4, 5)), SpeedVerdict::ambiguous);
  EXPECT_STREQ(name(SpeedVerdict::ambiguous), "AMBIGUOUS");
}

TEST(FinalSelection, HalvesSequentiallyAndFindsTheFastest) {
  std::map<std::uint32_t, double> times = {{0, 2e-3}};
  std::vector<std::uint32_t> states;
  for (std::uint32_t state = 1; state <= 8; ++state) {
    times[state] = 1.0e-3 * (1.0 + 0.02 * (state ^ 5U));  // 5 is the fastest
    states.push_back(state);
  }
  Device device(times, TimeMethod::measured);
  device.noise_ = 0.01;
  device.drift_ = 0.002;  // by the end everything takes 3 % longer
  const FinalSelection selection =
      select_final(finalists(states, TimeMethod::measured),
                   correct(around(2e-3, 0.01, TimeMethod::measured)), {}, std::ref(device));
  ASSERT_TRUE(selection.winner);
  EXPECT_EQ(*selection.winner, 5U);
  EXPECT_EQ(selection.verdict, SpeedVerdict::fast);
  EXPECT_TRUE(selection.confirmed);
  // Three rounds of 8, 4 and 2, the original in each, with fresh inputs in each.
  EXPECT_EQ(device.calls[0], 3);
  EXPECT_EQ(device.calls[5], 3);
  int total = 0;
  for (const auto& [state, calls] : device.calls)
    total += state == 0 ? 0 : calls;
  EXPECT_EQ(total, 8 + 4 + 2);
  EXPECT_EQ(device.repetitions[5], 64 / 3 * 3);
  EXPECT_EQ(device.seeds.size(), 3U);
  EXPECT_EQ(selection.winner_evaluation.time.samples, 64 / 3 * 3);
}

TEST(FinalSelection, DropsFinalistsThatFail) {
  Device device({{0, 2e-3}, {1, 1e-3}, {2, 1.1e-3}, {3, 1.2e-3}}, TimeMethod::measured);
  device.broken = {1};
  const FinalSelection selection =
      select_final(finalists({1, 2, 3}, TimeMethod::measured),
                   correct(around(2e-3, 0.01, TimeMethod::measured)), {}, std::ref(device));
  ASSERT_TRUE(selection.winner);
  EXPECT_EQ(*selection.winner, 2U);
  EXPECT_TRUE(selection.finalists[0].dropped);
  EXPECT_FALSE(selection.finalists[1].dropped);
}

TEST(FinalSelection, OfThoseThatTimeDoesNotTellApartTheShortestWins) {
  for (const double other : {1.002e-3, 1.1e-3}) {
    Device device({{0, 2e-3}, {1, 1e-3}, {2, other}}, TimeMethod::measured);
    std::vector<Finalist> two = finalists({1, 2}, TimeMethod::measured);
    two[0].steps = 7;
    two[1].steps = 3;
    const FinalSelection selection =
        select_final(two, correct(around(2e-3, 0.01, TimeMethod::measured)), {}, std::ref(device));
    ASSERT_TRUE(selection.winner);
    EXPECT_EQ(*selection.winner, other < 1.05e-3 ? 2U : 1U);
  }
}

TEST(FinalSelection, ClaimsNothingWithinTheNoise) {
  Device device({{0, 1e-3}, {1, 0.995e-3}}, TimeMethod::measured);
  const FinalSelection selection =
      select_final(finalists({1}, TimeMethod::measured),
                   correct(around(1e-3, 0.01, TimeMethod::measured)), {}, std::ref(device));
  EXPECT_FALSE(selection.winner);
  EXPECT_EQ(selection.verdict, SpeedVerdict::same);
}

TEST(FinalSelection, PredictedTimesAreOnlyVerifiedAgain) {
  Device device({{0, 2e-3}, {1, 1e-3}, {2, 1.1e-3}, {3, 1.2e-3}}, TimeMethod::predicted);
  device.broken = {1};
  const FinalSelection selection =
      select_final(finalists({1, 2, 3}, TimeMethod::predicted),
                   correct(around(2e-3, 0.01, TimeMethod::predicted)), {}, std::ref(device));
  ASSERT_TRUE(selection.winner);
  EXPECT_EQ(*selection.winner, 2U);
  EXPECT_EQ(device.calls[1], 1);
  EXPECT_EQ(device.calls[2], 1);
  EXPECT_EQ(device.calls[3], 0);
  EXPECT_EQ(device.calls[0], 0);
}

TEST(FinalSelection, StoppedEarlyItFallsBackToWhatIsKnown) {
  for (const TimeMethod method : {TimeMethod::measured, TimeMethod::predicted}) {
    const FinalSelection selection = select_final(
        finalists({4, 2}, method), correct(around(2e-3, 0.01, method)), {},
        [](std::uint32_t, const EvaluationBudget&) { return std::optional<Evaluation>{}; });
    ASSERT_TRUE(selection.winner);
    EXPECT_EQ(*selection.winner, 4U);
    EXPECT_FALSE(selection.confirmed);
  }
}

TEST(FinalSelection, NothingToChooseFromIsTheOriginal) {
  Device device({{0, 1e-3}, {1, 1e-3}}, TimeMethod::measured);
  const Evaluation baseline = correct(around(1e-3, 0.01, TimeMethod::measured));
  EXPECT_FALSE(select_final({}, baseline, {}, std::ref(device)).winner);
  device.broken = {1};
  const FinalSelection all_dropped =
      select_final(finalists({1}, TimeMethod::measured), baseline, {}, std::ref(device));
  EXPECT_FALSE(all_dropped.winner);
}

}  // namespace
}  // namespace regraph::final_selection_test
