// A search that is stopped at any moment and continued comes to the answer of one that never was,
// and measures nothing twice.
#include "base/files.h"
#include "search/driver.h"
#include "search/ending_journal.h"
#include "search/landscape.h"
#include "search/run_database.h"
#include "search/transcript.h"

#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <mutex>

namespace regraph::resume_test {
namespace {

using landscape::Shape;
using landscape::World;
using landscape::WorldEvaluator;
using landscape::WorldExpander;
using test::EndsAfter;
using test::transcript;

constexpr const char* kSearchers[] = {"mcgs", "greedy", "beam", "random", "regrapht"};

// Counts what it is asked for.
class CountingEvaluator final : public Evaluator {
 public:
  CountingEvaluator(const World& world, std::uint64_t shuffle) : inner_(world, shuffle) {}
  Evaluation evaluate(const Candidate& candidate, const EvaluationBudget& budget,
                      const Cancellation& cancellation) override {
    ++calls;
    Evaluation evaluation = inner_.evaluate(candidate, budget, cancellation);
    // Everything there is to keep has a value of its own.
    const double number = static_cast<double>(World::set_of(candidate));
    evaluation.facts = {{"occupancy", number / 7.0},
                        {"waves", std::numeric_limits<double>::infinity()}};
    evaluation.resources = {static_cast<int>(number) + 16, 4, 8, 32, 1024};
    evaluation.bottleneck = "set " + candidate.source;
    evaluation.roofline_seconds = 1e-5 / 3.0;
    evaluation.time.samples = 3 + static_cast<int>(World::set_of(candidate) % 5);
    if (budget.effort == EvaluationBudget::Effort::confirmation) {
      evaluation.time.median_seconds *= 1.0 + 1e-4 * to_unit_interval(budget.seed);
    }
    return evaluation;
  }
  std::atomic<int> calls{0};

 private:
  WorldEvaluator inner_;
};

class Resume : public ::testing::Test {
 protected:
  // In memory where that is possible: thousands of transactions, each with an fsync.
  Resume()
      : directory_(*TemporaryDirectory::create(
            "regraph-resume-test-", std::filesystem::exists("/dev/shm") ? "/dev/shm" : "")) {}

  SearchConfig config(const char* searcher, int evaluations = 24, int jobs = 1) const {
    SearchConfig result;
    result.searcher = searcher;
    result.seed = 5;
    result.budget.evaluations = evaluations;
    result.jobs = jobs;
    result.evaluation_wall_seconds = 30.0;
    return result;
  }
  // A fresh run's database.
  std::unique_ptr<RunDatabase> create(const SearchConfig& config) {
    path_ = directory_.path() / std::to_string(++runs_);
    std::filesystem::create_directory(path_);
    RunDescription description;
    description.config = config;
    auto created = RunDatabase::create(path_, description);
    EXPECT_TRUE(created) << created.error().message;
    return std::move(*created);
  }
  // The database of the run made last, as another process would open it.
  std::unique_ptr<RunDatabase> reopen() const {
    auto opened = RunDatabase::open(path_);
    EXPECT_TRUE(opened) << opened.error().message;
    return std::move(*opened);
  }
  Result<SearchOutcome> search(const SearchConfig& config, SearchJournal* journal,
                               std::uint64_t shuffle = 0) {
    const WorldExpander expander(world_, shuffle);
    CountingEvaluator evaluator(world_, shuffle);
    const Cancellation cancellation;
    auto outcome = run_search(World::candidate(0), expander, evaluator, world_.graph(), config,
                              nullptr, cancellation, journal);
    calls_ = evaluator.calls;
    return outcome;
  }

  World world_{11, Shape{}};
  TemporaryDirectory directory_;
  std::filesystem::path path_;
  int runs_ = 0;
  int calls_ = 0;  // of the evaluator in the last search
};

TEST_F(Resume, AJournalChangesNothing) {
  for (const char* searcher : kSearchers) {
    const SearchConfig settings = config(searcher);
    const auto plain = search(settings, nullptr);
    const auto journal = create(settings);
    const auto kept = search(settings, journal.get());
    ASSERT_TRUE(plain && kept);
    EXPECT_EQ(transcript(*kept), transcript(*plain)) << searcher;
  }
}

// At every boundary between two records, with another number of workers before and after.
TEST_F(Resume, StoppedAtAnyRecordItComesToTheSameAnswer) {
  for (const char* searcher : kSearchers) {
    const SearchConfig settings = config(searcher, 16);
    const auto reference = search(settings, nullptr);
    ASSERT_TRUE(reference);
    const int total = calls_;
    bool finished = false;
    for (int records = 0; !finished; ++records) {
      ASSERT_LT(records, 200);
      int first = 0;
      {
        const auto journal = create(settings);
        EndsAfter ends(*journal, records);
        SearchConfig other = settings;
        other.jobs = 1 + 3 * (records % 2);
        const auto stopped = search(other, &ends, static_cast<std::uint64_t>(records % 3));
        finished = stopped.ok();
        first = calls_;
      }
      const auto journal = reopen();
      const std::int64_t measured = *journal->measurements();
      SearchConfig other = settings;
      other.jobs = 4 - 3 * (records % 2);
      const auto resumed = search(other, journal.get(), static_cast<std::uint64_t>(records % 2));
      ASSERT_TRUE(resumed) << resumed.error().message;
      ASSERT_EQ(transcript(*resumed), transcript(*reference)) << searcher << " after " << records;
      // What was recorded is not measured again: baseline, candidates and confirmations.
      EXPECT_LE(calls_, total - measured) << searcher << " after " << records;
      EXPECT_GE(first + calls_, total);
      if (finished) {
        EXPECT_EQ(calls_, 0);
      }
    }
  }
}

TEST_F(Resume, StoppedAgainAndAgainItComesToTheSameAnswer) {
  for (const char* searcher : kSearchers) {
    const SearchConfig settings = config(searcher, 40);
    const auto reference = search(settings, nullptr);
    ASSERT_TRUE(reference);
    static_cast<void>(create(settings));
    for (int sitting = 0;; ++sitting) {
      ASSERT_LT(sitting, 100);
      const auto journal = reopen();
      EndsAfter ends(*journal, 3 + sitting % 5);
      const auto outcome = search(settings, &ends, static_cast<std::uint64_t>(sitting));
      if (!outcome) {
        EXPECT_EQ(outcome.error().code, ErrorCode::io);
        continue;
      }
      EXPECT_EQ(transcript(*outcome), transcript(*reference)) << searcher;
      EXPECT_GT(sitting, 5);
      break;
    }
  }
}

// Steps that were being tried when the search was told to stop are tried when it goes on.
TEST_F(Resume, WhatACancelledSearchAbandonedIsTriedAgain) {
  class Stopper final : public SearchObserver {
   public:
    Stopper(Cancellation& cancellation, int after) : cancellation_(cancellation), after_(after) {}
    void on_evaluated(const SearchEvent& event) override {
      if (event.evaluations >= after_) cancellation_.request();
      recalled += event.recalled ? 1 : 0;
    }
    int recalled = 0;

   private:
    Cancellation& cancellation_;
    int after_;
  };
  for (const char* searcher : kSearchers) {
    // A small world that is exhausted: one step left out would be missed.
    world_ = World(8, Shape{.steps = 6});
    const SearchConfig settings = config(searcher, 100000, 4);
    const auto reference = search(settings, nullptr);
    ASSERT_TRUE(reference);
    ASSERT_EQ(reference->stopped, StopReason::exhausted);
    static_cast<void>(create(settings));
    for (int evaluations = 4; evaluations < reference->evaluations; evaluations += 5) {
      const auto journal = reopen();
      Cancellation cancellation;
      Stopper stopper(cancellation, evaluations);
      const WorldExpander expander(world_, 3);
      CountingEvaluator evaluator(world_, 3);
      const auto stopped = run_search(World::candidate(0), expander, evaluator, world_.graph(),
                                      settings, &stopper, cancellation, journal.get());
      ASSERT_TRUE(stopped) << stopped.error().message;
      EXPECT_EQ(stopped->stopped, StopReason::cancelled);
      EXPECT_FALSE(journal->progress().end);
      EXPECT_GE(stopper.recalled, evaluations > 4 ? 5 : 0);
    }
    const auto journal = reopen();
    const auto resumed = search(settings, journal.get());
    ASSERT_TRUE(resumed);
    EXPECT_EQ(resumed->stopped, StopReason::exhausted);
    EXPECT_EQ(transcript(*resumed), transcript(*reference)) << searcher;
  }
}

TEST_F(Resume, SecondsOfEarlierSittingsCount) {
  for (const char* searcher : kSearchers) {
    SearchConfig settings = config(searcher, 0, 2);
    settings.budget.wall_seconds = 0.15;
    {
      const auto journal = create(settings);
      EndsAfter ends(*journal, 20);
      ASSERT_FALSE(search(settings, &ends, 1));
    }
    double used = 0.0;
    std::string first;
    {
      const auto journal = reopen();
      used = journal->progress().seconds;
      EXPECT_GT(used, 0.0);
      const auto resumed = search(settings, journal.get(), 1);
      ASSERT_TRUE(resumed) << resumed.error().message;
      EXPECT_EQ(resumed->stopped, StopReason::budget);
      EXPECT_GE(resumed->wall_seconds, settings.budget.wall_seconds);
      first = transcript(*resumed);
    }
    // Over is over: continued once more it is the same, though the clock went on.
    const auto journal = reopen();
    ASSERT_TRUE(journal->progress().end);
    EXPECT_GE(journal->progress().seconds, used);
    const auto again = search(settings, journal.get(), 2);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(transcript(*again), first) << searcher;
    EXPECT_EQ(calls_, 0);
  }
}

// A model that answers differently each time: what it answered is kept.
TEST_F(Resume, ResultsOfExpandersThatAreNotRepeatableAreKept) {
  class Moody final : public Expander {
   public:
    explicit Moody(const World& world, std::atomic<int>& restored)
        : inner_(world), restored_(restored) {}
    std::vector<StepProposal> propose(const Candidate& candidate, const ExpansionContext& context,
                                      const Cancellation& cancellation) const override {
      auto proposals = inner_.propose(candidate, context, cancellation);
      for (StepProposal& proposal : proposals)
        proposal.variant_limit = 3;
      return proposals;
    }
    Result<Candidate> apply(const Candidate& candidate, const StepProposal&, int,
                            const ExpansionContext&, const Cancellation&) const override {
      static std::atomic<std::uint32_t> mood{0};
      const std::uint32_t draw = static_cast<std::uint32_t>(splitmix64(++mood));
      if (draw % 5 == 0) return fail(ErrorCode::refused, "not in the mood");
      return World::candidate(World::set_of(candidate) | (1U << (draw % 12)));
    }
    Result<Candidate> restore(const Candidate& stored) const override {
      ++restored_;
      return stored;
    }

   private:
    WorldExpander inner_;
    std::atomic<int>& restored_;
  };
  const SearchConfig settings = config("mcgs", 30, 3);
  std::atomic<int> restored{0};
  const Moody expander(world_, restored);
  const auto run = [&](SearchJournal* journal) {
    CountingEvaluator evaluator(world_, 0);
    const Cancellation cancellation;
    return run_search(World::candidate(0), expander, evaluator, world_.graph(), settings, nullptr,
                      cancellation, journal);
  };
  {
    const auto journal = create(settings);
    EndsAfter ends(*journal, 40);
    ASSERT_FALSE(run(&ends));
  }
  std::string reference;
  {
    const auto journal = reopen();
    const auto outcome = run(journal.get());
    ASSERT_TRUE(outcome) << outcome.error().message;
    reference = transcript(*outcome);
    EXPECT_GT(restored, 0);
  }
  const auto journal = reopen();
  const auto again = run(journal.get());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(transcript(*again), reference);
}

// Some evaluations never return, some throw; that they did is kept like any result.
TEST_F(Resume, LostAndCrashedEvaluationsAreNotTriedAgain) {
  class Rough final : public Evaluator {
   public:
    explicit Rough(const World& world) : inner_(world) {}
    Evaluation evaluate(const Candidate& candidate, const EvaluationBudget& budget,
                        const Cancellation& cancellation) override {
      const std::uint32_t set = World::set_of(candidate);
      if (set != 0 && splitmix64(set) % 7 == 0) {
        ++struck;
        while (!cancellation.requested())
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      if (set != 0 && splitmix64(set) % 3 == 1) throw std::runtime_error("no");
      return inner_.evaluate(candidate, budget, cancellation);
    }
    std::atomic<int> struck{0};

   private:
    WorldEvaluator inner_;
  };
  SearchConfig settings = config("mcgs", 14, 2);
  settings.evaluation_wall_seconds = 0.02;
  const WorldExpander expander(world_);
  const auto run = [&](Rough& evaluator, SearchJournal* journal) {
    const Cancellation cancellation;
    return run_search(World::candidate(0), expander, evaluator, world_.graph(), settings, nullptr,
                      cancellation, journal);
  };
  std::string reference;
  {
    const auto journal = create(settings);
    Rough evaluator(world_);
    const auto outcome = run(evaluator, journal.get());
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_GT(outcome->lost_workers, 0);
    EXPECT_GT(outcome->failures.at("crash"), 0);
    reference = transcript(*outcome);
  }
  const auto journal = reopen();
  Rough evaluator(world_);
  const auto again = run(evaluator, journal.get());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(transcript(*again), reference);
  EXPECT_EQ(evaluator.struck, 0);
}

// A program that rewrites or selects differently must not mix its results with the old ones.
TEST_F(Resume, AnotherSearchIsRefused) {
  const SearchConfig settings = config("greedy", 20);
  {
    const auto journal = create(settings);
    ASSERT_TRUE(search(settings, journal.get()));
  }
  SearchConfig other = settings;
  other.searcher = "random";
  const auto mixed = search(other, reopen().get());
  ASSERT_FALSE(mixed);
  EXPECT_EQ(mixed.error().code, ErrorCode::parse);
  EXPECT_NE(mixed.error().message.find("another version"), std::string::npos)
      << mixed.error().message;

  world_ = World(12, Shape{});
  const auto elsewhere = search(settings, reopen().get());
  ASSERT_FALSE(elsewhere);
  EXPECT_EQ(elsewhere.error().code, ErrorCode::parse);
}

}  // namespace
}  // namespace regraph::resume_test
