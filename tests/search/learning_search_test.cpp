// Searches whose priors follow a policy and what they find out themselves: the same answer for any
// number of workers, and after they were stopped anywhere.
#include "base/files.h"
#include "base/hash.h"
#include "search/driver.h"
#include "search/ending_journal.h"
#include "search/landscape.h"
#include "search/run_database.h"
#include "search/transcript.h"

#include <gtest/gtest.h>

#include <atomic>

namespace regraph::learning_search_test {
namespace {

using landscape::Shape;
using landscape::World;
using landscape::WorldEvaluator;
using landscape::WorldExpander;
using test::EndsAfter;
using test::transcript;

// Likes steps by their names.
class NameScorer final : public EdgeScorer {
 public:
  void score(const Candidate& candidate, const ExpansionContext& context,
             std::vector<StepProposal>& proposals) const override {
    ++states;
    for (StepProposal& proposal : proposals) {
      const Hash128 hash = hash_text(proposal.text() + candidate.source);
      proposal.score.correction = static_cast<double>(hash.low % 400) / 100.0 - 2.0;
      proposal.score.expected_log_gain = 0.1 * static_cast<double>(context.history.size());
    }
  }
  [[nodiscard]] std::string description() const override { return "by name"; }
  mutable std::atomic<int> states = 0;
};

class LearningSearch : public ::testing::Test {
 protected:
  LearningSearch()
      : directory_(*TemporaryDirectory::create(
            "regraph-learning-test-", std::filesystem::exists("/dev/shm") ? "/dev/shm" : "")) {
    config_.seed = 5;
    config_.budget.evaluations = 30;
    config_.learn = true;
  }
  std::unique_ptr<RunDatabase> create() {
    path_ = directory_.path() / std::to_string(++runs_);
    std::filesystem::create_directory(path_);
    RunDescription description;
    description.config = config_;
    return std::move(*RunDatabase::create(path_, description));
  }
  std::unique_ptr<RunDatabase> reopen() const { return std::move(*RunDatabase::open(path_)); }
  Result<SearchOutcome> search(SearchJournal* journal, const EdgeScorer* scorer,
                               std::uint64_t shuffle = 0) {
    const WorldExpander expander(world_, shuffle);
    WorldEvaluator evaluator(world_, shuffle);
    return run_search(World::candidate(0), expander, evaluator, world_.graph(), config_, nullptr,
                      Cancellation{}, journal, scorer);
  }

  World world_{11, Shape{}};
  SearchConfig config_;
  TemporaryDirectory directory_;
  std::filesystem::path path_;
  int runs_ = 0;
};

TEST_F(LearningSearch, ExperienceChangesTheSearchAndWorkersDoNot) {
  config_.learn = false;
  const auto without = search(nullptr, nullptr);
  config_.learn = true;
  const auto with = search(nullptr, nullptr);
  ASSERT_TRUE(without && with);
  EXPECT_NE(transcript(*with), transcript(*without));
  for (const int jobs : {2, 4, 7}) {
    config_.jobs = jobs;
    const auto other = search(nullptr, nullptr, static_cast<std::uint64_t>(jobs));
    ASSERT_TRUE(other);
    EXPECT_EQ(transcript(*other), transcript(*with)) << jobs;
  }
}

TEST_F(LearningSearch, APolicyChangesTheSearchAndWorkersDoNot) {
  const NameScorer scorer;
  const auto without = search(nullptr, nullptr);
  config_.policy = scorer.description();
  config_.selection.greedy_every = 2;
  const auto with = search(nullptr, &scorer);
  ASSERT_TRUE(without && with);
  EXPECT_NE(transcript(*with), transcript(*without));
  EXPECT_GT(scorer.states, 10);
  for (const int jobs : {2, 4, 7}) {
    config_.jobs = jobs;
    const auto other = search(nullptr, &scorer, static_cast<std::uint64_t>(jobs));
    ASSERT_TRUE(other);
    EXPECT_EQ(transcript(*other), transcript(*with)) << jobs;
  }
}

TEST_F(LearningSearch, StoppedAtAnyRecordItComesToTheSameAnswer) {
  const NameScorer scorer;
  config_.policy = scorer.description();
  config_.selection.greedy_every = 2;
  const auto reference = search(nullptr, &scorer);
  ASSERT_TRUE(reference);
  bool finished = false;
  for (int records = 0; !finished; records += 3) {
    ASSERT_LT(records, 300);
    {
      const auto journal = create();
      EndsAfter ends(*journal, records);
      finished = search(&ends, &scorer, 1).ok();
    }
    const auto resumed = search(reopen().get(), &scorer);
    ASSERT_TRUE(resumed) << resumed.error().message;
    ASSERT_EQ(transcript(*resumed), transcript(*reference)) << records;
  }
}

// What the policy made of the edges is in the records.
TEST_F(LearningSearch, ARecordedRunNeedsNoPolicy) {
  const NameScorer scorer;
  config_.policy = scorer.description();
  std::string reference;
  {
    const auto journal = create();
    const auto outcome = search(journal.get(), &scorer);
    ASSERT_TRUE(outcome);
    reference = transcript(*outcome);
  }
  const auto again = search(reopen().get(), nullptr);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(transcript(*again), reference);
}

// Every other expansion by the greedy rule finds what greedy finds with twice the budget.
TEST_F(LearningSearch, HalfOfItIsGreedy) {
  config_.learn = false;
  config_.selection.greedy_every = 1;
  const auto all = search(nullptr, nullptr);
  config_.selection.greedy_every = 0;
  config_.searcher = "greedy";
  const auto greedy = search(nullptr, nullptr);
  ASSERT_TRUE(all && greedy);
  EXPECT_EQ(all->log_speedup, greedy->log_speedup);
  EXPECT_EQ(all->evaluations, greedy->evaluations);
  config_.selection.greedy_every = -1;
  EXPECT_FALSE(search(nullptr, nullptr));
}

}  // namespace
}  // namespace regraph::learning_search_test
