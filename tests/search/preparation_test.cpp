// Candidates are prepared by idle workers where nothing may be evaluated ahead.
#include "search/driver.h"
#include "search/instrumented.h"
#include "search/landscape.h"
#include "search/transcript.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

namespace regraph::preparation_test {
namespace {

using landscape::Shape;
using landscape::World;
using landscape::WorldEvaluator;
using landscape::WorldExpander;
using std::chrono::milliseconds;
using test::transcript;

SearchConfig config_for(bool work_ahead) {
  SearchConfig config;
  config.budget.evaluations = 60;
  config.jobs = 8;
  config.work_ahead = work_ahead;
  config.evaluation_wall_seconds = 30.0;
  return config;
}

Result<SearchOutcome> search(const World& world, const SearchConfig& config, Evaluator& evaluator) {
  const WorldExpander expander(world, 0);
  const StepGraph graph = world.graph();
  return run_search(World::candidate(0), expander, evaluator, graph, config, nullptr,
                    Cancellation{}, nullptr);
}

// Takes less time for what it was asked to prepare, as one that has a GPU to wait for.
class PreparingEvaluator final : public Evaluator {
 public:
  PreparingEvaluator(const World& world, milliseconds preparation)
      : inner_(world), preparation_(preparation) {}

  Evaluation evaluate(const Candidate& candidate, const EvaluationBudget& budget,
                      const Cancellation& cancellation) override {
    ++calls;
    if (!was_prepared(candidate, budget)) std::this_thread::sleep_for(preparation_);
    return inner_.evaluate(candidate, budget, cancellation);
  }
  [[nodiscard]] Ahead may_work_ahead() const override { return Ahead::preparation; }
  [[nodiscard]] Evaluation prepare(const Candidate& candidate, const EvaluationBudget& budget,
                                   const Cancellation& cancellation) override {
    std::this_thread::sleep_for(preparation_);
    {
      const std::lock_guard lock(mutex_);
      prepared_.insert(key_of(candidate, budget));
    }
    // A model that is off.
    Evaluation expected = inner_.evaluate(candidate, budget, cancellation);
    expected.time.median_seconds *= 1.3;
    return expected;
  }

  std::atomic<int> calls{0};

 private:
  bool was_prepared(const Candidate& candidate, const EvaluationBudget& budget) {
    const std::lock_guard lock(mutex_);
    return prepared_.erase(key_of(candidate, budget)) > 0;
  }

  using Key = std::pair<std::uint32_t, std::uint64_t>;
  static Key key_of(const Candidate& candidate, const EvaluationBudget& budget) {
    return {World::set_of(candidate), budget.seed};
  }

  WorldEvaluator inner_;
  milliseconds preparation_;
  std::mutex mutex_;
  std::set<Key> prepared_;
};

TEST(Preparation, IsDoneAheadWhereEvaluationsAreNot) {
  const World world(11, Shape{});
  PreparingEvaluator alone(world, milliseconds(5) * test::kInstrumentedSlowness);
  const auto without = search(world, config_for(false), alone);
  PreparingEvaluator helped(world, milliseconds(5) * test::kInstrumentedSlowness);
  const auto with = search(world, config_for(true), helped);
  ASSERT_TRUE(without && with);
  EXPECT_EQ(transcript(*with), transcript(*without));
  EXPECT_EQ(helped.calls, alone.calls) << "what nobody asked for was evaluated";
  EXPECT_GE(with->work_ahead.evaluations, with->work_ahead.evaluations_used);
  EXPECT_GT(with->work_ahead.evaluations_used, 3);
}

}  // namespace
}  // namespace regraph::preparation_test
