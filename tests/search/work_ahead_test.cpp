// What idle workers do ahead: it is used, and nothing depends on it.
#include "base/files.h"
#include "search/driver.h"
#include "search/ending_journal.h"
#include "search/landscape.h"
#include "search/run_database.h"
#include "search/transcript.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

namespace regraph {
namespace {

using landscape::Shape;
using landscape::World;
using landscape::WorldEvaluator;
using landscape::WorldExpander;
using std::chrono::milliseconds;
using test::transcript;

SearchConfig config_for(int evaluations, int jobs, bool work_ahead = true) {
  SearchConfig config;
  config.budget.evaluations = evaluations;
  config.jobs = jobs;
  config.work_ahead = work_ahead;
  config.evaluation_wall_seconds = 30.0;
  return config;
}

// Sleeps for a while that depends on the candidate, as long as nobody asks it to stop.
class SlowEvaluator : public Evaluator {
 public:
  SlowEvaluator(const World& world, milliseconds shortest, milliseconds longest)
      : inner_(world), shortest_(shortest), longest_(longest) {}

  Evaluation evaluate(const Candidate& candidate, const EvaluationBudget& budget,
                      const Cancellation& cancellation) override {
    ++calls;
    const auto spread = static_cast<std::uint64_t>((longest_ - shortest_).count()) + 1;
    const auto rest =
        shortest_ + milliseconds(splitmix64(World::set_of(candidate) ^ budget.seed) % spread);
    const auto end = std::chrono::steady_clock::now() + rest;
    while (std::chrono::steady_clock::now() < end && !cancellation.requested())
      std::this_thread::sleep_for(milliseconds(1));
    if (cancellation.requested()) {
      Evaluation evaluation;
      evaluation.verdict = Verdict::timeout;
      return evaluation;
    }
    return inner_.evaluate(candidate, budget, cancellation);
  }
  [[nodiscard]] bool may_work_ahead() const override { return true; }

  std::atomic<int> calls{0};

 private:
  WorldEvaluator inner_;
  milliseconds shortest_;
  milliseconds longest_;
};

Result<SearchOutcome> search(const World& world, const SearchConfig& config, Evaluator& evaluator,
                             SearchJournal* journal = nullptr, std::uint64_t shuffle = 0) {
  const WorldExpander expander(world, shuffle);
  const ReGraph graph = world.graph();
  return run_search(World::candidate(0), expander, evaluator, graph, config, nullptr,
                    Cancellation{}, journal);
}

TEST(WorkAhead, ChangesNoAnswer) {
  for (const char* searcher : {"mcgs", "greedy", "beam", "random", "regrapht"}) {
    for (const std::uint64_t seed : {11, 12}) {
      const World world(seed, Shape{});
      SearchConfig config = config_for(60, 1, false);
      config.searcher = searcher;
      config.seed = seed;
      WorldEvaluator plain(world);
      const auto reference = search(world, config, plain);
      ASSERT_TRUE(reference) << reference.error().message;
      EXPECT_EQ(reference->work_ahead.evaluations, 0);
      for (const int jobs : {1, 2, 4, 16}) {
        for (const bool ahead : {false, true}) {
          for (const std::uint64_t shuffle : {1, 2}) {
            config.jobs = jobs;
            config.work_ahead = ahead;
            WorldEvaluator evaluator(world, shuffle);
            const auto other = search(world, config, evaluator, nullptr, shuffle);
            ASSERT_TRUE(other);
            EXPECT_EQ(transcript(*other), transcript(*reference))
                << searcher << " jobs " << jobs << " ahead " << ahead << " shuffle " << shuffle;
            if (jobs == 1 || !ahead) {
              EXPECT_EQ(other->work_ahead.evaluations, 0);
            }
            EXPECT_GE(other->work_ahead.evaluations, other->work_ahead.evaluations_used);
          }
        }
      }
    }
  }
}

TEST(WorkAhead, IsUsed) {
  const World world(11, Shape{});
  SlowEvaluator alone(world, milliseconds(60), milliseconds(90));
  const auto without = search(world, config_for(60, 16, false), alone);
  SlowEvaluator helped(world, milliseconds(60), milliseconds(90));
  const auto with = search(world, config_for(60, 16), helped);
  ASSERT_TRUE(without && with);
  EXPECT_EQ(transcript(*with), transcript(*without));
  const WorkAhead& work = with->work_ahead;
  std::printf("exp %d used %d ev %d used %d  s %.3f %.3f wall %.3f vs %.3f\n", work.expansions,
              work.expansions_used, work.evaluations, work.evaluations_used, work.used_seconds,
              work.vain_seconds, with->wall_seconds, without->wall_seconds);
  EXPECT_GT(work.evaluations_used, 15);
  EXPECT_GT(work.expansions_used, 15);
  EXPECT_GT(work.used_seconds, 15 * 0.008);
  EXPECT_GE(work.vain_seconds, 0.0);
  EXPECT_EQ(work.in_vain(), work.evaluations - work.evaluations_used);
  // Nothing is evaluated twice: the original, the budget, confirmations, and what was in vain.
  const int needed = alone.calls;
  EXPECT_EQ(needed, 60 + 1 + static_cast<int>(with->finalists[0].rounds));
  EXPECT_EQ(helped.calls, needed + work.in_vain());
  // Seconds add up, and waiting is what was saved.
  EXPECT_GT(with->busy_seconds, without->busy_seconds * 0.9);
  EXPECT_LT(with->sitting_seconds, without->sitting_seconds);
  EXPECT_EQ(without->work_ahead.used_seconds + without->work_ahead.vain_seconds, 0.0);
}

TEST(WorkAhead, IsLeftWhereTheEvaluatorIsNotForIt) {
  class Measured final : public SlowEvaluator {
   public:
    explicit Measured(const World& world)
        : SlowEvaluator(world, milliseconds(1), milliseconds(2)) {}
    [[nodiscard]] bool may_work_ahead() const override { return false; }
  };
  const World world(11, Shape{});
  Measured evaluator(world);
  const auto outcome = search(world, config_for(40, 8), evaluator);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->work_ahead.evaluations, 0);
  EXPECT_EQ(outcome->work_ahead.expansions, 0);
  EXPECT_EQ(evaluator.calls, 42);
}

// The first evaluation of a candidate goes wrong as it may under load. As nobody can tell whether
// that was one made ahead, each candidate is begun at most twice, and only what was made ahead may
// be made again.
class FirstFails final : public Evaluator {
 public:
  enum class Manner { throws, times_out, crashes, hangs };
  FirstFails(const World& world, Manner manner) : inner_(world), manner_(manner) {}

  Evaluation evaluate(const Candidate& candidate, const EvaluationBudget& budget,
                      const Cancellation& cancellation) override {
    const bool on_owner_request = asked_.load();
    std::this_thread::sleep_for(milliseconds(2));
    if (on_owner_request || World::set_of(candidate) == 0)
      return inner_.evaluate(candidate, budget, cancellation);
    bool first = false;
    {
      const std::lock_guard lock(mutex_);
      first = ++begun_[World::set_of(candidate)] == 1;
      // Real requests come first in a window of one; see the test.
      if (first && !ahead_.contains(World::set_of(candidate))) first = false;
    }
    if (!first) return inner_.evaluate(candidate, budget, cancellation);
    ++struck;
    Evaluation evaluation;
    switch (manner_) {
      case Manner::throws:
        throw std::runtime_error("no");
      case Manner::hangs:
        while (!cancellation.requested())
          std::this_thread::sleep_for(milliseconds(1));
        evaluation.verdict = Verdict::timeout;
        return evaluation;
      case Manner::times_out:
        evaluation.verdict = Verdict::timeout;
        return evaluation;
      case Manner::crashes:
        evaluation.verdict = Verdict::crash;
        return evaluation;
    }
    return evaluation;
  }
  [[nodiscard]] bool may_work_ahead() const override { return true; }

  // Candidates whose first evaluation is known to be one made ahead.
  void spoil(std::set<std::uint32_t> sets) { ahead_ = std::move(sets); }
  std::atomic<int> struck{0};

 private:
  WorldEvaluator inner_;
  Manner manner_;
  std::atomic<bool> asked_{false};
  std::mutex mutex_;
  std::map<std::uint32_t, int> begun_;
  std::set<std::uint32_t> ahead_;
};

}  // namespace
}  // namespace regraph
