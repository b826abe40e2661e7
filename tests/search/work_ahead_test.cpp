// What idle workers do ahead: it is used, and nothing depends on it.
#include "base/files.h"
#include "search/driver.h"
#include "search/ending_journal.h"
#include "search/instrumented.h"
#include "search/landscape.h"
#include "search/run_database.h"
#include "search/transcript.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <thread>

namespace regraph::work_ahead_test {
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
  [[nodiscard]] Ahead may_work_ahead() const override { return Ahead::evaluation; }

  std::atomic<int> calls{0};

 private:
  WorldEvaluator inner_;
  milliseconds shortest_;
  milliseconds longest_;
};

Result<SearchOutcome> search(const World& world, const SearchConfig& config, Evaluator& evaluator,
                             SearchJournal* journal = nullptr, std::uint64_t shuffle = 0) {
  const WorldExpander expander(world, shuffle);
  const StepGraph graph = world.graph();
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
  EXPECT_GT(work.evaluations_used, 5);
  EXPECT_GT(work.expansions_used, 5);
  EXPECT_GT(work.used_seconds, 5 * 0.06);
  EXPECT_GE(work.vain_seconds, 0.0);
  EXPECT_EQ(work.in_vain(), work.evaluations - work.evaluations_used);
  // Nothing is evaluated twice: the original, the budget, confirmations, and what was in vain.
  const int needed = alone.calls;
  EXPECT_EQ(needed, 60 + 1 + static_cast<int>(with->finalists[0].rounds));
  EXPECT_EQ(helped.calls, needed + work.in_vain());
  EXPECT_EQ(without->work_ahead.used_seconds + without->work_ahead.vain_seconds, 0.0);
}

// The last evaluations of a search are waited for; what confirms its answer meanwhile need not be.
TEST(WorkAhead, TheAnswerIsConfirmedBeforeTheSearchEnds) {
  // Keeps the search waiting for one candidate until a confirmation was begun, if one ever is.
  class Watched final : public Evaluator {
   public:
    explicit Watched(const World& world, std::optional<std::uint32_t> held = {})
        : inner_(world), held_(held) {}
    Evaluation evaluate(const Candidate& candidate, const EvaluationBudget& budget,
                        const Cancellation& cancellation) override {
      const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      if (budget.effort == EvaluationBudget::Effort::confirmation) {
        confirming = true;
      } else {
        screened_last = World::set_of(candidate);
        while (held_ == World::set_of(candidate) && !confirming && !cancellation.requested() &&
               std::chrono::steady_clock::now() < give_up)
          std::this_thread::sleep_for(milliseconds(1));
        if (held_ == World::set_of(candidate)) confirmed_meanwhile = confirming.load();
      }
      return inner_.evaluate(candidate, budget, cancellation);
    }
    [[nodiscard]] Ahead may_work_ahead() const override { return Ahead::evaluation; }

    std::atomic<std::uint32_t> screened_last{0};
    std::atomic<bool> confirming{false};
    std::atomic<bool> confirmed_meanwhile{false};

   private:
    WorldEvaluator inner_;
    std::optional<std::uint32_t> held_;
  };
  const World world(11, Shape{});
  Watched alone(world);
  const auto without = search(world, config_for(40, 1, false), alone);
  Watched helped(world, alone.screened_last);
  const auto with = search(world, config_for(40, 16), helped);
  ASSERT_TRUE(without && with);
  EXPECT_EQ(transcript(*with), transcript(*without));
  ASSERT_TRUE(with->confirmed);
  EXPECT_TRUE(helped.confirmed_meanwhile);
}

TEST(WorkAhead, IsLeftWhereTheEvaluatorIsNotForIt) {
  class Measured final : public SlowEvaluator {
   public:
    explicit Measured(const World& world)
        : SlowEvaluator(world, milliseconds(1), milliseconds(2)) {}
    [[nodiscard]] Ahead may_work_ahead() const override { return Ahead::nothing; }
  };
  const World world(11, Shape{});
  Measured evaluator(world);
  const auto outcome = search(world, config_for(40, 8), evaluator);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->work_ahead.evaluations, 0);
  EXPECT_EQ(outcome->work_ahead.expansions, 0);
  EXPECT_EQ(evaluator.calls, 42);
}

// Evaluations made ahead go wrong, as they may under load; made again they do not. The one that the
// search asks for first keeps it waiting until enough others were begun, so that these are ahead.
class FirstFails final : public Evaluator {
 public:
  enum class Manner { throws, times_out, crashes, hangs };
  FirstFails(const World& world, const Candidate& first, Manner manner)
      : inner_(world), first_(World::set_of(first)), manner_(manner) {}

  Evaluation evaluate(const Candidate& candidate, const EvaluationBudget& budget,
                      const Cancellation& cancellation) override {
    const std::uint32_t set = World::set_of(candidate);
    const int call = ++calls_;
    if (set == first_) {
      while (calls_ < kCalls && !cancellation.requested())
        std::this_thread::sleep_for(milliseconds(1));
    } else if (set != 0 && call <= kCalls) {
      ++struck;
      return go_wrong(cancellation);
    }
    return inner_.evaluate(candidate, budget, cancellation);
  }
  [[nodiscard]] Ahead may_work_ahead() const override { return Ahead::evaluation; }

  std::atomic<int> struck{0};

 private:
  Evaluation go_wrong(const Cancellation& cancellation) {
    Evaluation evaluation;
    evaluation.verdict = manner_ == Manner::crashes ? Verdict::crash : Verdict::timeout;
    if (manner_ == Manner::throws) throw std::runtime_error("no");
    while (manner_ == Manner::hangs && !cancellation.requested())
      std::this_thread::sleep_for(milliseconds(1));
    return evaluation;
  }

  static constexpr int kCalls = 8;
  WorldEvaluator inner_;
  std::uint32_t first_;
  Manner manner_;
  std::atomic<int> calls_{0};
};

TEST(WorkAhead, WhatGoesWrongAheadIsNoVerdict) {
  using Manner = FirstFails::Manner;
  const World world(11, Shape{});
  WorldEvaluator plain(world);
  const auto reference = search(world, config_for(40, 1), plain);
  ASSERT_TRUE(reference);
  for (const Manner manner : {Manner::throws, Manner::times_out, Manner::crashes, Manner::hangs}) {
    FirstFails evaluator(world, *reference->states[1].candidate, manner);
    SearchConfig config = config_for(40, 20);
    // Then what hangs is written off after a second and more, and asked for anew.
    config.evaluation_wall_seconds = 0.3;
    const auto outcome = search(world, config, evaluator);
    ASSERT_TRUE(outcome);
    EXPECT_GT(evaluator.struck, 3) << static_cast<int>(manner);
    EXPECT_EQ(transcript(*outcome), transcript(*reference)) << static_cast<int>(manner);
    EXPECT_EQ(outcome->lost_workers, 0);
    EXPECT_GT(outcome->work_ahead.in_vain(), 3);
  }
}

// A search that is over does not wait for what was begun ahead.
TEST(WorkAhead, EndsPromptly) {
  class Long final : public Evaluator {
   public:
    explicit Long(const World& world) : inner_(world) {}
    Evaluation evaluate(const Candidate& candidate, const EvaluationBudget& budget,
                        const Cancellation& cancellation) override {
      const auto begin = std::chrono::steady_clock::now();
      const bool real = World::set_of(candidate) == 0 ||
                        budget.effort == EvaluationBudget::Effort::confirmation || first_++ < 1;
      while (!real && !cancellation.requested()) {
        std::this_thread::sleep_for(milliseconds(1));
        if (std::chrono::steady_clock::now() - begin > std::chrono::seconds(30)) ++outlived;
      }
      if (real) std::this_thread::sleep_for(milliseconds(50));
      return inner_.evaluate(candidate, budget, cancellation);
    }
    [[nodiscard]] Ahead may_work_ahead() const override { return Ahead::evaluation; }
    std::atomic<int> outlived{0};

   private:
    WorldEvaluator inner_;
    std::atomic<int> first_{0};
  };
  const World world(11, Shape{});
  Long evaluator(world);
  // One evaluation is asked for; those that are begun meanwhile would never end by themselves.
  SearchConfig config = config_for(1, 8);
  const auto begin = std::chrono::steady_clock::now();
  const auto outcome = search(world, config, evaluator);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->evaluations, 1);
  EXPECT_EQ(evaluator.outlived, 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

// Told to stop in the middle, with work ahead under way.
TEST(WorkAhead, IsStoppedWithTheSearch) {
  class Stopper final : public SearchObserver {
   public:
    explicit Stopper(Cancellation& cancellation) : cancellation_(cancellation) {}
    void on_evaluated(const SearchEvent& event) override {
      if (event.evaluations == 10) cancellation_.request();
    }

   private:
    Cancellation& cancellation_;
  };
  const World world(11, Shape{});
  const WorldExpander expander(world);
  SlowEvaluator evaluator(world, milliseconds(20), milliseconds(30));
  Cancellation cancellation;
  Stopper stopper(cancellation);
  const auto outcome = run_search(World::candidate(0), expander, evaluator, world.graph(),
                                  config_for(1000, 8), &stopper, cancellation);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->stopped, StopReason::cancelled);
  EXPECT_EQ(outcome->evaluations, 10);
  EXPECT_FALSE(outcome->confirmed);
}

// The journal holds what was asked for and nothing else, so a run that goes on comes to the same
// answer whatever had been done ahead.
TEST(WorkAhead, LeavesNothingInTheJournal) {
  const World world(11, Shape{});
  WorldEvaluator plain(world);
  const auto reference = search(world, config_for(30, 1), plain);
  ASSERT_TRUE(reference);
  const auto directory = TemporaryDirectory::create(
      "regraph-ahead-test-", std::filesystem::exists("/dev/shm") ? "/dev/shm" : "");
  ASSERT_TRUE(directory);
  for (int records = 2; records < 60; records += 7) {
    const auto path = directory->path() / std::to_string(records);
    std::filesystem::create_directory(path);
    std::int64_t measured = 0;
    {
      const auto journal = RunDatabase::create(path, RunDescription{});
      ASSERT_TRUE(journal);
      test::EndsAfter ends(**journal, records);
      SlowEvaluator evaluator(world, milliseconds(2), milliseconds(6));
      static_cast<void>(search(world, config_for(30, 8), evaluator, &ends));
      measured = *(*journal)->measurements();
      EXPECT_LE(measured, records);
    }
    const auto journal = RunDatabase::open(path);
    ASSERT_TRUE(journal);
    SlowEvaluator evaluator(world, milliseconds(2), milliseconds(6));
    const auto resumed = search(world, config_for(30, 4), evaluator, journal->get());
    ASSERT_TRUE(resumed) << resumed.error().message;
    EXPECT_EQ(transcript(*resumed), transcript(*reference)) << records;
    EXPECT_EQ(*(*journal)->measurements(), 30);
  }
}

// A language model's steps are never applied ahead, nor is a model asked for proposals.
TEST(WorkAhead, AsksNobodyWhoIsPaid) {
  class Paid final : public Expander {
   public:
    explicit Paid(const World& world) : inner_(world) {}
    std::vector<StepProposal> propose(const Candidate& candidate, const ExpansionContext& context,
                                      const Cancellation& cancellation) const override {
      ++proposals;
      auto result = inner_.propose(candidate, context, cancellation);
      for (std::size_t index = 0; index < result.size(); index += 2)
        result[index].variant_limit = 2;
      return result;
    }
    Result<Candidate> apply(const Candidate& candidate, const StepProposal& proposal, int variant,
                            const ExpansionContext& context,
                            const Cancellation& cancellation) const override {
      if (!repeatable(proposal)) ++paid;
      return inner_.apply(candidate, proposal, variant, context, cancellation);
    }
    [[nodiscard]] bool proposes_freely() const override { return false; }
    mutable std::atomic<int> proposals{0};
    mutable std::atomic<int> paid{0};

   private:
    WorldExpander inner_;
  };
  const World world(11, Shape{});
  int proposals = 0;
  int paid = 0;
  std::string reference;
  for (const int jobs : {1, 8}) {
    const Paid expander(world);
    SlowEvaluator evaluator(world, milliseconds(10) * test::kInstrumentedSlowness,
                            milliseconds(20) * test::kInstrumentedSlowness);
    const auto outcome = run_search(World::candidate(0), expander, evaluator, world.graph(),
                                    config_for(40, jobs), nullptr, Cancellation{});
    ASSERT_TRUE(outcome);
    if (jobs == 1) {
      proposals = expander.proposals;
      paid = expander.paid;
      reference = transcript(*outcome);
      EXPECT_GT(paid, 0);
      continue;
    }
    EXPECT_EQ(transcript(*outcome), reference);
    EXPECT_EQ(expander.proposals, proposals);
    EXPECT_EQ(expander.paid, paid);
    EXPECT_GT(outcome->work_ahead.evaluations_used, 0);
  }
}

}  // namespace
}  // namespace regraph::work_ahead_test
