#include "fleet/fleet_evaluator.h"

#include <gtest/gtest.h>

#include <functional>
#include <mutex>
#include <vector>

namespace regraph::fleet::fleet_evaluator_test {
namespace {

Evaluation timed(double seconds) {
  Evaluation evaluation;
  evaluation.verdict = Verdict::correct;
  evaluation.time = {seconds, seconds, seconds, 1, TimeMethod::predicted};
  return evaluation;
}

Candidate candidate(const std::string& source) {
  Candidate result;
  result.source = source;
  Launch launch;
  launch.kernel = "f";
  result.plan.launches = {launch};
  return result;
}

// What is evaluated here takes as many seconds as its source has letters.
class Here final : public Evaluator {
 public:
  Evaluation evaluate(const Candidate& candidate, const EvaluationBudget& budget,
                      const Cancellation&) override {
    ++calls;
    const bool other_inputs = budget.effort == EvaluationBudget::Effort::confirmation;
    const double factor = other_inputs && candidate.source.starts_with("data") ? 10.0 : 1.0;
    return timed(factor * static_cast<double>(candidate.source.size()));
  }
  int calls = 0;
};

class Queue final : public JobQueue {
 public:
  Result<std::string> ask(const Job& job, const Cancellation&) override {
    jobs.push_back(job);
    return answer(job);
  }
  void take_back(const Job& job) override { taken_back.push_back(job); }
  Status keep(const Hash128& id, std::string_view bytes, const Cancellation&) override {
    if (refusals-- > 0) return fail(ErrorCode::io, "no connection");
    kept.emplace_back(id, bytes);
    return {};
  }
  Result<LaneState> state(const std::string&) override { return LaneState{}; }

  std::function<Result<std::string>(const Job&)> answer;
  std::vector<Job> jobs;
  std::vector<Job> taken_back;
  std::vector<std::pair<Hash128, std::string>> kept;
  int refusals = 0;
};

std::string answer_of(const Evaluation& evaluation) {
  return answer_text({evaluation, "", "worker"});
}

struct FleetEvaluatorTest : testing::Test {
  FleetEvaluator make(int checked_share = 0) {
    return FleetEvaluator(queue, here,
                          {.lane = "lane",
                           .problem = {"problem", hash_text("problem")},
                           .original = candidate("original"),
                           .checked_share = checked_share,
                           .report = [this](const std::string& text) { said.push_back(text); }});
  }
  Queue queue;
  Here here;
  std::vector<std::string> said;
  const Cancellation never{};
};

TEST_F(FleetEvaluatorTest, AsksWorkers) {
  queue.refusals = 1;
  queue.answer = [](const Job& job) {
    const auto read = read_evaluation_job(job.payload);
    return answer_of(timed(read->candidate.source == "aa" ? 2.0 : 1.0));
  };
  FleetEvaluator fleet = make();
  EXPECT_EQ(fleet.evaluate(candidate("aa"), {}, never).time.median_seconds, 2.0);
  EXPECT_EQ(fleet.evaluate(candidate("b"), {}, never).time.median_seconds, 1.0);
  EXPECT_EQ(here.calls, 0);
  ASSERT_EQ(queue.kept.size(), 1U);  // the problem, once
  EXPECT_EQ(queue.kept[0].second, "problem");
  EXPECT_EQ(queue.jobs[0].lane, "lane");
  EXPECT_EQ(fleet.statistics().remote, 2U);
}

TEST_F(FleetEvaluatorTest, TakesBackWhatIsCancelled) {
  FleetEvaluator fleet = make();
  queue.answer = [](const Job&) -> Result<std::string> {
    return fail(ErrorCode::cancelled, "cancelled");
  };
  EXPECT_EQ(fleet.evaluate(candidate("aa"), {}, never).verdict, Verdict::timeout);
  ASSERT_EQ(queue.taken_back.size(), 1U);
  EXPECT_EQ(queue.taken_back[0].id, queue.jobs[0].id);
}

TEST_F(FleetEvaluatorTest, ConfirmsHere) {
  FleetEvaluator fleet = make();
  EvaluationBudget budget;
  budget.effort = EvaluationBudget::Effort::confirmation;
  EXPECT_EQ(fleet.evaluate(candidate("abc"), budget, never).time.median_seconds, 3.0);
  EXPECT_TRUE(queue.jobs.empty());
}

TEST_F(FleetEvaluatorTest, FindsOutItselfWhatTheOriginalTakes) {
  FleetEvaluator fleet = make();
  EXPECT_EQ(fleet.evaluate(candidate("original"), {}, never).time.median_seconds, 8.0);
  EXPECT_TRUE(queue.jobs.empty());
}

TEST_F(FleetEvaluatorTest, EvaluatesHereWhatNoWorkerCan) {
  FleetEvaluator fleet = make();
  queue.answer = [](const Job&) { return answer_text({std::nullopt, "no toolkit", "w1"}); };
  EXPECT_EQ(fleet.evaluate(candidate("abc"), {}, never).time.median_seconds, 3.0);
  EXPECT_EQ(fleet.evaluate(candidate("abcd"), {}, never).time.median_seconds, 4.0);
  EXPECT_EQ(queue.kept.size(), 2U);  // the server may have lost the problem
  queue.answer = [](const Job&) { return std::string("garbage"); };
  EXPECT_EQ(fleet.evaluate(candidate("ab"), {}, never).time.median_seconds, 2.0);
  queue.answer = [](const Job&) -> Result<std::string> {
    return fail(ErrorCode::resource, "too large to travel");
  };
  EXPECT_EQ(fleet.evaluate(candidate("a"), {}, never).time.median_seconds, 1.0);
  EXPECT_EQ(fleet.evaluate(candidate("b"), {}, never).time.median_seconds, 1.0);
  ASSERT_EQ(said.size(), 3U);  // each once
  EXPECT_NE(said[0].find("w1"), std::string::npos);
  EXPECT_EQ(fleet.statistics().local, 5U);
}

TEST_F(FleetEvaluatorTest, FindsOutWhoLies) {
  FleetEvaluator fleet = make(1);
  queue.answer = [](const Job&) { return answer_of(timed(1e-9)); };
  EXPECT_EQ(fleet.evaluate(candidate("abc"), {}, never).time.median_seconds, 3.0);
  EXPECT_EQ(fleet.statistics().differing, 1U);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_NE(said[0].find("worker worker says something else"), std::string::npos) << said[0];
  queue.answer = [](const Job&) { return answer_of(timed(3.0)); };
  EXPECT_EQ(fleet.evaluate(candidate("abc"), {}, never).time.median_seconds, 3.0);
  EXPECT_EQ(fleet.statistics().differing, 1U);
  EXPECT_EQ(fleet.statistics().checked, 2U);
}

TEST_F(FleetEvaluatorTest, DoesNotTryWhatKilledJudges) {
  FleetEvaluator fleet = make(1);
  queue.answer = [](const Job&) {
    Evaluation dead;
    dead.verdict = Verdict::crash;
    return answer_of(dead);
  };
  EXPECT_EQ(fleet.evaluate(candidate("abc"), {}, never).verdict, Verdict::crash);
  EXPECT_EQ(here.calls, 0);
}

TEST_F(FleetEvaluatorTest, FindsOutByConfirmingWhoLies) {
  FleetEvaluator fleet = make(1'000'000'000);
  queue.answer = [](const Job&) { return answer_of(timed(1e-9)); };
  EXPECT_EQ(fleet.evaluate(candidate("abc"), {}, never).time.median_seconds, 1e-9);
  EvaluationBudget budget;
  budget.effort = EvaluationBudget::Effort::confirmation;
  EXPECT_EQ(fleet.evaluate(candidate("abc"), budget, never).time.median_seconds, 3.0);
  EXPECT_EQ(fleet.statistics().differing, 1U);
  // From now on nobody is believed.
  EXPECT_EQ(fleet.evaluate(candidate("ab"), {}, never).time.median_seconds, 2.0);
}

TEST_F(FleetEvaluatorTest, TellsOtherInputsFromLies) {
  FleetEvaluator fleet = make(1'000'000'000);
  queue.answer = [](const Job&) { return answer_of(timed(4.0)); };
  EXPECT_EQ(fleet.evaluate(candidate("data"), {}, never).time.median_seconds, 4.0);
  EvaluationBudget budget;
  budget.effort = EvaluationBudget::Effort::confirmation;
  EXPECT_EQ(fleet.evaluate(candidate("data"), budget, never).time.median_seconds, 40.0);
  EXPECT_EQ(fleet.statistics().differing, 0U);
}

TEST_F(FleetEvaluatorTest, ChecksAShare) {
  FleetEvaluator fleet = make(8);
  queue.answer = [](const Job& job) {
    return answer_of(
        timed(static_cast<double>(read_evaluation_job(job.payload)->candidate.source.size())));
  };
  for (int number = 0; number < 400; ++number)
    (void)fleet.evaluate(candidate(std::to_string(number)), {}, never);
  EXPECT_GT(fleet.statistics().checked, 25U);
  EXPECT_LT(fleet.statistics().checked, 90U);
  EXPECT_EQ(fleet.statistics().differing, 0U);
}

TEST_F(FleetEvaluatorTest, StopsWhenItIsToldTo) {
  FleetEvaluator fleet = make();
  queue.answer = [](const Job&) -> Result<std::string> {
    return fail(ErrorCode::cancelled, "cancelled");
  };
  EXPECT_EQ(fleet.evaluate(candidate("a"), {}, never).verdict, Verdict::timeout);
  EXPECT_EQ(here.calls, 0);
  Cancellation at_once;
  at_once.request();
  queue.refusals = 1000;
  FleetEvaluator other = make();
  EXPECT_EQ(other.evaluate(candidate("a"), {}, at_once).verdict, Verdict::timeout);
}

}  // namespace
}  // namespace regraph::fleet::fleet_evaluator_test
