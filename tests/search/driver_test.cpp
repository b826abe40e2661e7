#include "search/driver.h"

#include "search/landscape.h"
#include "search/transcript.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>

namespace regraph::driver_test {
namespace {

using landscape::Shape;
using landscape::World;
using landscape::WorldEvaluator;
using landscape::WorldExpander;
using test::transcript;

SearchConfig small_config(int evaluations, int jobs = 1) {
  SearchConfig config;
  config.budget.evaluations = evaluations;
  config.jobs = jobs;
  config.evaluation_wall_seconds = 30.0;
  return config;
}

Result<SearchOutcome> search(const World& world, const SearchConfig& config,
                             std::uint64_t shuffle = 0, SearchObserver* observer = nullptr) {
  const WorldExpander expander(world, shuffle);
  WorldEvaluator evaluator(world, shuffle);
  const StepGraph graph = world.graph();
  const Cancellation cancellation;
  return run_search(World::candidate(0), expander, evaluator, graph, config, observer,
                    cancellation);
}

TEST(Driver, WorkerCountAndTimingDoNotChangeTheSearch) {
  for (const char* searcher : {"mcgs", "greedy", "beam", "random", "regrapht"}) {
    const bool is_baseline = searcher != std::string("mcgs");
    for (const bool expansions_first : {true, false}) {
      if (is_baseline && !expansions_first) continue;  // the order of commits is not theirs
      const World world(11, Shape{});
      SearchConfig config = small_config(is_baseline ? 60 : 120, 1);
      config.searcher = searcher;
      config.expansions_first = expansions_first;
      const Result<SearchOutcome> reference = search(world, config);
      ASSERT_TRUE(reference) << reference.error().message;
      EXPECT_EQ(reference->evaluations, config.budget.evaluations);
      if (!is_baseline) {
        EXPECT_GT(reference->transpositions, 0);
      }
      for (const int jobs : {1, 4, 16}) {
        for (const std::uint64_t shuffle : {1, 2}) {
          config.jobs = jobs;
          const Result<SearchOutcome> other = search(world, config, shuffle);
          ASSERT_TRUE(other);
          EXPECT_EQ(transcript(*other), transcript(*reference))
              << searcher << " jobs " << jobs << " shuffle " << shuffle;
        }
      }
    }
  }
}

// The caller objects to so many claims.
Result<SearchOutcome> search_with_objections(const World& world, int objections,
                                             std::vector<std::uint32_t>* claimed) {
  const WorldExpander expander(world, 0);
  WorldEvaluator evaluator(world, 0);
  const StepGraph graph = world.graph();
  const Cancellation cancellation;
  const Objection object = [&](const SearchOutcome& outcome) -> std::optional<std::string> {
    EXPECT_TRUE(outcome.improved());
    EXPECT_FALSE(outcome.path.empty());
    claimed->push_back(outcome.best_state);
    if (static_cast<int>(claimed->size()) > objections) return std::nullopt;
    return "no";
  };
  return run_search(World::candidate(0), expander, evaluator, graph, small_config(100), nullptr,
                    cancellation, nullptr, nullptr, object);
}

TEST(Driver, TheNextBestTakesThePlaceOfWhatTheCallerObjectsTo) {
  const World world(3, Shape{});
  std::vector<std::uint32_t> claimed;
  const Result<SearchOutcome> none = search_with_objections(world, 0, &claimed);
  ASSERT_TRUE(none && none->improved());
  EXPECT_EQ(claimed.size(), 1U);
  claimed.clear();
  const Result<SearchOutcome> two = search_with_objections(world, 2, &claimed);
  ASSERT_TRUE(two && two->improved());
  ASSERT_EQ(claimed.size(), 3U);
  EXPECT_EQ(claimed.front(), none->best_state);
  EXPECT_EQ(two->best_state, claimed.back());
  EXPECT_LE(two->log_speedup, none->log_speedup);
  EXPECT_EQ(std::ranges::count(two->finalists, "no", &FinalistRecord::objection), 2);
  EXPECT_EQ(two->path.back().state, two->best_state);
}

TEST(Driver, WhereNothingStandsTheOriginalIsTheAnswer) {
  const World world(3, Shape{});
  std::vector<std::uint32_t> claimed;
  const Result<SearchOutcome> outcome = search_with_objections(world, 1000, &claimed);
  ASSERT_TRUE(outcome);
  EXPECT_FALSE(outcome->improved());
  EXPECT_EQ(outcome->verdict, SpeedVerdict::ambiguous);
  EXPECT_EQ(outcome->best_state, 0U);
  EXPECT_TRUE(outcome->path.empty());
  EXPECT_EQ(claimed.size(), outcome->finalists.size());
}

TEST(Driver, ReportsThePathWithItsGains) {
  const World world(3, Shape{});
  const Result<SearchOutcome> outcome = search(world, small_config(100));
  ASSERT_TRUE(outcome);
  ASSERT_FALSE(outcome->path.empty());
  double sum = 0.0;
  for (const PathStep& step : outcome->path)
    sum += step.log_gain;
  EXPECT_NEAR(sum, outcome->log_speedup, 1e-9);
  EXPECT_NEAR(outcome->log_speedup, world.log_speedup(World::set_of(outcome->best)), 1e-9);
  EXPECT_EQ(outcome->path.back().state, outcome->best_state);
  EXPECT_EQ(outcome->verdict, SpeedVerdict::fast);
  EXPECT_TRUE(outcome->confirmed);
  int judged = 0;
  for (const int count : outcome->verdict_counts)
    judged += count;
  EXPECT_EQ(judged, outcome->evaluations);
}

TEST(Driver, StopsWhenEveryStepWasTried) {
  Shape shape;
  shape.steps = 5;
  const World world(8, shape);
  std::optional<int> evaluations;
  for (const char* searcher : {"mcgs", "greedy", "beam", "random", "regrapht"}) {
    SearchConfig config = small_config(100000, 3);
    config.searcher = searcher;
    const Result<SearchOutcome> outcome = search(world, config, 1);
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->stopped, StopReason::exhausted) << searcher;
    EXPECT_NEAR(outcome->log_speedup, world.optimum(), 1e-9) << searcher;
    EXPECT_EQ(outcome->evaluations, evaluations.value_or(outcome->evaluations)) << searcher;
    evaluations = outcome->evaluations;
  }
}

TEST(Driver, TellsTheObserver) {
  class Counter final : public SearchObserver {
   public:
    void on_evaluated(const SearchEvent& event) override {
      EXPECT_EQ(event.evaluations, events);
      EXPECT_GE(event.best_log_speedup, best);
      EXPECT_EQ(event.improved, event.best_log_speedup > best);
      best = event.best_log_speedup;
      fraction = event.budget_fraction;
      ++events;
    }
    int events = 0;
    double best = 0.0;
    double fraction = 0.0;
  };
  Counter counter;
  const Result<SearchOutcome> outcome = search(World(5, Shape{}), small_config(50, 2), 1, &counter);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(counter.events, 51);
  EXPECT_DOUBLE_EQ(counter.fraction, 1.0);
}

TEST(Driver, RejectsBadConfigurations) {
  const World world(1, Shape{});
  SearchConfig config = small_config(10);
  config.searcher = "genetic";
  Result<SearchOutcome> outcome = search(world, config);
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().message.find("mcgs, greedy, beam, random, regrapht"),
            std::string::npos);
  EXPECT_FALSE(search(world, small_config(0)));
  EXPECT_FALSE(search(world, small_config(-1)));
  EXPECT_FALSE(search(world, small_config(10, 0)));
}

// Misbehaves on some candidates in a way that the test chooses.
class RoughEvaluator final : public Evaluator {
 public:
  enum class Manner { throws, hangs, lies };
  RoughEvaluator(const World& world, Manner manner) : inner_(world), manner_(manner) {}

  Evaluation evaluate(const Candidate& candidate, const EvaluationBudget& budget,
                      const Cancellation& cancellation) override {
    const std::uint32_t set = World::set_of(candidate);
    if (set != 0 && splitmix64(set) % 4 == 0) {
      ++struck;
      if (manner_ == Manner::throws) throw std::runtime_error("no");
      if (manner_ == Manner::lies) {
        Evaluation evaluation = inner_.evaluate(candidate, budget, cancellation);
        evaluation.verdict = Verdict::correct;
        evaluation.time.median_seconds = -1.0;
        return evaluation;
      }
      // Ignores its own deadline; only the driver's writing off ends it.
      while (!cancellation.requested())
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return inner_.evaluate(candidate, budget, cancellation);
  }
  std::atomic<int> struck{0};

 private:
  WorldEvaluator inner_;
  Manner manner_;
};

SearchOutcome rough_search(RoughEvaluator::Manner manner, int jobs, int evaluations) {
  const World world(21, Shape{});
  const WorldExpander expander(world);
  RoughEvaluator evaluator(world, manner);
  SearchConfig config = small_config(evaluations, jobs);
  config.evaluation_wall_seconds = 0.02;
  const Cancellation cancellation;
  Result<SearchOutcome> outcome = run_search(World::candidate(0), expander, evaluator,
                                             world.graph(), config, nullptr, cancellation);
  EXPECT_TRUE(outcome);
  EXPECT_GT(evaluator.struck, 0);
  return std::move(outcome).value();
}

TEST(Driver, SurvivesEvaluatorsThatThrow) {
  const SearchOutcome outcome = rough_search(RoughEvaluator::Manner::throws, 4, 60);
  EXPECT_EQ(outcome.evaluations, 60);
  EXPECT_GT(outcome.failures.at("crash"), 0);
  EXPECT_GT(outcome.log_speedup, 0.0);
}

TEST(Driver, SurvivesImpossibleTimes) {
  const SearchOutcome outcome = rough_search(RoughEvaluator::Manner::lies, 2, 60);
  EXPECT_GT(outcome.failures.at("suspicious"), 0);
  EXPECT_GT(outcome.log_speedup, 0.0);
}

TEST(Driver, WritesOffEvaluationsThatNeverReturn) {
  const SearchOutcome outcome = rough_search(RoughEvaluator::Manner::hangs, 1, 12);
  EXPECT_EQ(outcome.evaluations, 12);
  EXPECT_GT(outcome.lost_workers, 0);
  EXPECT_EQ(outcome.failures.at("timeout"), outcome.lost_workers);
  EXPECT_GT(outcome.log_speedup, 0.0);
}

// Steps that throw, are refused, dawdle or never come back, for every method: the search uses its
// budget, finds something and ends.
TEST(Driver, SurvivesExpandersThatMisbehave) {
  class RoughExpander final : public Expander {
   public:
    RoughExpander(const World& world, bool hangs) : inner_(world), hangs_(hangs) {}
    std::vector<StepProposal> propose(const Candidate& candidate, const ExpansionContext& context,
                                      const Cancellation& cancellation) const override {
      return inner_.propose(candidate, context, cancellation);
    }
    Result<Candidate> apply(const Candidate& candidate, const StepProposal& proposal, int variant,
                            const ExpansionContext& context,
                            const Cancellation& cancellation) const override {
      switch (random_bits(World::set_of(candidate), hash_text(proposal.step).low) % 24) {
        case 0:
          while (hangs_ && !cancellation.requested())
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
          return fail(ErrorCode::cancelled, "late");
        case 1:
          throw std::runtime_error("no");
        case 2:
          return fail(ErrorCode::refused, "not here");
        case 3:
          std::this_thread::sleep_for(std::chrono::milliseconds(3));
          break;
        default:
          break;
      }
      return inner_.apply(candidate, proposal, variant, context, cancellation);
    }

   private:
    WorldExpander inner_;
    bool hangs_;
  };
  for (const char* searcher : {"mcgs", "greedy", "beam", "random", "regrapht"}) {
    const World world(21, Shape{});
    // Writing off takes a second each: one method shows it.
    const RoughExpander expander(world, searcher == std::string("mcgs"));
    WorldEvaluator evaluator(world);
    SearchConfig config = small_config(40, 4);
    config.searcher = searcher;
    config.evaluation_wall_seconds = 0.01;
    const Cancellation cancellation;
    const Result<SearchOutcome> outcome = run_search(World::candidate(0), expander, evaluator,
                                                     world.graph(), config, nullptr, cancellation);
    ASSERT_TRUE(outcome) << searcher;
    EXPECT_EQ(outcome->evaluations, 40) << searcher;
    EXPECT_GT(outcome->log_speedup, 0.0) << searcher;
    const auto failed = [&](const char* reason) {
      const auto found = outcome->failures.find(reason);
      return found == outcome->failures.end() ? 0 : found->second;
    };
    EXPECT_GT(failed("crash") + failed("refused"), 0) << searcher;
  }
}

TEST(Driver, CancellationReturnsWhatWasFound) {
  class Stopper final : public SearchObserver {
   public:
    explicit Stopper(Cancellation& cancellation) : cancellation_(cancellation) {}
    void on_evaluated(const SearchEvent& event) override {
      if (event.evaluations == 30) cancellation_.request();
    }

   private:
    Cancellation& cancellation_;
  };
  const World world(2, Shape{});
  const WorldExpander expander(world);
  WorldEvaluator evaluator(world);
  Cancellation cancellation;
  Stopper stopper(cancellation);
  const Result<SearchOutcome> outcome =
      run_search(World::candidate(0), expander, evaluator, world.graph(), small_config(1000, 2),
                 &stopper, cancellation);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->stopped, StopReason::cancelled);
  EXPECT_EQ(outcome->evaluations, 30);
  EXPECT_GT(outcome->log_speedup, 0.0);
  EXPECT_FALSE(outcome->confirmed);

  const Result<SearchOutcome> too_late =
      run_search(World::candidate(0), expander, evaluator, world.graph(), small_config(1000, 2),
                 nullptr, cancellation);
  ASSERT_FALSE(too_late);
  EXPECT_EQ(too_late.error().code, ErrorCode::cancelled);
}

TEST(Driver, StopsAtItsWallClockLimit) {
  const World world(2, Shape{});
  SearchConfig config = small_config(0, 2);
  config.budget.wall_seconds = 0.05;
  const Result<SearchOutcome> outcome = search(world, config, 1);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->stopped, StopReason::budget);
  EXPECT_GT(outcome->evaluations, 0);
}

TEST(Driver, RejectsABaselineThatFailsItsOwnVerification) {
  class Refusing final : public Evaluator {
   public:
    Evaluation evaluate(const Candidate&, const EvaluationBudget&, const Cancellation&) override {
      Evaluation evaluation;
      evaluation.verdict = Verdict::out_of_bounds;
      evaluation.message = "A[17] is outside A";
      return evaluation;
    }
  };
  const World world(2, Shape{});
  const WorldExpander expander(world);
  Refusing evaluator;
  const Cancellation cancellation;
  const Result<SearchOutcome> outcome =
      run_search(World::candidate(0), expander, evaluator, world.graph(), small_config(10), nullptr,
                 cancellation);
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().message.find("A[17]"), std::string::npos);
}

}  // namespace
}  // namespace regraph::driver_test
