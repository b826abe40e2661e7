#include "eval/shared/shared_evaluator.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace regraph::shared_evaluator_test {
namespace {

// Counts its calls and how many ran at once; takes a moment.
class CountingEvaluator final : public Evaluator {
 public:
  Evaluation evaluate(const Candidate& candidate, const EvaluationBudget&,
                      const Cancellation&) override {
    ++calls;
    const int now = ++running;
    int seen = most;
    while (seen < now && !most.compare_exchange_weak(seen, now)) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    --running;
    Evaluation evaluation;
    evaluation.verdict = verdict;
    evaluation.message = candidate.source;
    return evaluation;
  }

  Verdict verdict = Verdict::correct;
  std::atomic<int> calls{0};
  std::atomic<int> running{0};
  std::atomic<int> most{0};
};

Candidate candidate_of(const std::string& source) {
  Candidate candidate;
  candidate.source = source;
  return candidate;
}

TEST(SharedEvaluator, LimitsHowManyRunAtOnce) {
  CountingEvaluator inner;
  SharedEvaluator shared(inner, 3);
  std::vector<std::thread> threads;
  for (int index = 0; index < 16; ++index) {
    threads.emplace_back([&, index] {
      const std::string source = std::to_string(index);
      EXPECT_EQ(shared.evaluate(candidate_of(source), {}, {}).message, source);
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(inner.calls, 16);
  EXPECT_LE(inner.most, 3);
  EXPECT_DOUBLE_EQ(shared.longest_seconds({.wall_seconds = 10.0}, 7), 30.0);
}

TEST(SharedEvaluator, RemembersScreenings) {
  CountingEvaluator inner;
  SharedEvaluator shared(inner, 1);
  inner.verdict = Verdict::wrong_result;
  EXPECT_EQ(shared.evaluate(candidate_of("a"), {}, {}).verdict, Verdict::wrong_result);
  EXPECT_EQ(shared.evaluate(candidate_of("a"), {}, {}).verdict, Verdict::wrong_result);
  EXPECT_EQ(inner.calls, 1);
  EXPECT_EQ(shared.recalled(), 1);
  Candidate other_launch = candidate_of("a");
  other_launch.plan.launches.emplace_back();
  (void)shared.evaluate(other_launch, {}, {});
  (void)shared.evaluate(candidate_of("a"), {.seed = 9}, {});
  EXPECT_EQ(inner.calls, 3);
  // A confirmation is for being done again.
  const EvaluationBudget confirmation{.effort = EvaluationBudget::Effort::confirmation};
  (void)shared.evaluate(candidate_of("a"), confirmation, {});
  (void)shared.evaluate(candidate_of("a"), confirmation, {});
  EXPECT_EQ(inner.calls, 5);
}

TEST(SharedEvaluator, ForgetsTimeoutsCancellationsAndTheOldest) {
  CountingEvaluator inner;
  SharedEvaluator shared(inner, 1);
  inner.verdict = Verdict::timeout;
  (void)shared.evaluate(candidate_of("a"), {}, {});
  inner.verdict = Verdict::correct;
  EXPECT_EQ(shared.evaluate(candidate_of("a"), {}, {}).verdict, Verdict::correct);
  Cancellation cancelled;
  cancelled.request();
  (void)shared.evaluate(candidate_of("b"), {}, cancelled);
  const int calls = inner.calls;
  (void)shared.evaluate(candidate_of("b"), {}, {});
  EXPECT_EQ(inner.calls, calls + 1);
  for (std::size_t index = 0; index < SharedEvaluator::kRemembered; ++index)
    (void)shared.evaluate(candidate_of(std::to_string(index)), {}, {});
  const int before = inner.calls;
  (void)shared.evaluate(candidate_of("b"), {}, {});
  EXPECT_EQ(inner.calls, before + 1);
}

}  // namespace
}  // namespace regraph::shared_evaluator_test
