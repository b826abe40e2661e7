// What the baselines try next, on graphs small enough to foresee it.
#include "base/files.h"
#include "search/searcher.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <set>

namespace regraph::baselines_test {
namespace {

class Baseline : public ::testing::Test {
 protected:
  void make(const char* name, const SelectionConfig& config, std::uint64_t seed,
            const std::vector<EdgeSeed>& proposals) {
    auto made = make_searcher(name, config, seed);
    ASSERT_TRUE(made) << made.error().message;
    searcher = std::move(*made);
    searcher->start({0, 1}, {}, proposals);
    next_identity = 1;
  }
  // The next ticket, which comes to a state of that score; none: it fails.
  Ticket step(std::optional<double> score, const std::vector<EdgeSeed>& proposals = {}) {
    const std::optional<Ticket> ticket = searcher->next(0.0);
    EXPECT_TRUE(ticket);
    if (!ticket) return {};
    if (!score) {
      static_cast<void>(searcher->commit_expansion(ticket->number, std::nullopt));
      return *ticket;
    }
    const Commit commit = searcher->commit_expansion(ticket->number, Hash128{next_identity++, 1});
    MeasurementResult result;
    result.correct = true;
    result.score = *score;
    result.proposals = proposals;
    static_cast<void>(searcher->commit_measurement(commit.measure->number, result));
    EXPECT_TRUE(searcher->verify());
    return *ticket;
  }

  std::unique_ptr<Searcher> searcher;
  std::uint64_t next_identity = 1;
};

TEST_F(Baseline, BeamKeepsTheBestOfALevelAndReturnsForTheRest) {
  SelectionConfig config;
  config.beam_width = 2;
  const std::vector<EdgeSeed> one = {{1.0, 1}};
  make("beam", config, 0, {{0.2, 1}, {0.5, 1}, {0.3, 1}});
  EXPECT_EQ(step(0.1, one).proposal, 1U);  // node 1: by prior
  EXPECT_EQ(step(0.5, one).proposal, 2U);  // node 2
  EXPECT_EQ(step(0.3, one).proposal, 0U);  // node 3
  EXPECT_EQ(step(0.2).parent, 2U);         // the best two, best first; node 4 is a dead end
  EXPECT_EQ(step(std::nullopt).parent, 3U);
  // Nothing new below node 4: what was never kept.
  EXPECT_EQ(step(0.9).parent, 1U);
  EXPECT_FALSE(searcher->next(0.0));
  EXPECT_TRUE(searcher->exhausted());
}

TEST_F(Baseline, BeamWaitsForItsLevel) {
  make("beam", {}, 0, {{0.5, 1}, {0.5, 1}});
  const Ticket first = *searcher->next(0.0);
  EXPECT_TRUE(searcher->next(0.0));
  const Commit commit = searcher->commit_expansion(first.number, Hash128{7, 7});
  MeasurementResult result;
  result.correct = true;
  result.score = 1.0;
  result.proposals = {{1.0, 1}};
  static_cast<void>(searcher->commit_measurement(commit.measure->number, result));
  EXPECT_FALSE(searcher->next(0.0));  // the second may be better
  EXPECT_FALSE(searcher->exhausted());
}

TEST_F(Baseline, RandomDrawsStepsUniformlyWhateverTheirSettings) {
  std::vector<EdgeSeed> proposals = {{0.01, 1, 0}};
  for (int setting = 0; setting < 9; ++setting)
    proposals.push_back({0.11, 1, 1});
  int first_step = 0;
  std::set<std::uint32_t> settings;
  constexpr int kSeeds = 2000;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    make("random", {}, seed, proposals);
    const std::uint32_t proposal = searcher->next(0.0)->proposal;
    first_step += proposal == 0 ? 1 : 0;
    settings.insert(proposal);
  }
  EXPECT_NEAR(first_step, kSeeds / 2.0, 100);  // over four standard deviations
  EXPECT_EQ(settings.size(), proposals.size());
}

TEST_F(Baseline, RandomWalksOnFromWhereItIsUnlessItRestarts) {
  const std::vector<EdgeSeed> many(6, {1.0 / 6, 1});
  SelectionConfig config;
  config.random_restart = 0.0;
  make("random", config, 3, many);
  for (NodeId parent = 0; parent < 5; ++parent)
    EXPECT_EQ(step(-1.0, many).parent, parent);
  EXPECT_EQ(step(std::nullopt).parent, 5U);  // a step that failed
  EXPECT_EQ(step(0.0, many).parent, 5U);     // leaves the walk where it was
  config.random_restart = 1.0;
  make("random", config, 3, many);
  std::set<NodeId> parents;
  for (int round = 0; round < 6; ++round)
    parents.insert(step(0.5).parent);  // dead ends, so every walk has to try at the root
  EXPECT_EQ(parents, std::set<NodeId>{0U});
}

// By hand: N and Q belong to steps; a = 0, b = 1, c = 2.
TEST_F(Baseline, RegraphtFollowsItsPublishedRule) {
  SelectionConfig config;
  config.regrapht.rollout_steps = 0;
  config.regrapht.epsilon = 0.0;
  make("regrapht", config, 0, {{0.3, 1, 1}, {0.7, 1, 0}});
  EXPECT_EQ(step(std::nullopt).proposal, 1U);  // a has the higher prior; it fails: Q(a) = -1
  // b, of two untried steps the one never taken: Q(b) = 2, and b's state opens a and c.
  EXPECT_EQ(step(std::log(2.0), {{0.9, 1, 0}, {0.1, 1, 2}}).proposal, 0U);
  // Over the known b: a was taken and failed elsewhere, so c comes first though its prior is low.
  const Ticket third = step(std::log(0.5), {{1.0, 1, 1}});
  EXPECT_EQ(third.parent, 1U);
  EXPECT_EQ(third.proposal, 1U);
  // N(b) = 2, N(a) = N(c) = 1: a has -1 + sqrt(2 ln 2), c has 0.5 - 1 + the same and is taken;
  // below it, b is tried.
  EXPECT_EQ(step(std::nullopt).parent, 2U);
}

TEST_F(Baseline, RegraphtRollsOutFromANewState) {
  SelectionConfig config;
  config.regrapht.rollout_steps = 2;
  config.regrapht.epsilon = 0.0;
  const std::vector<EdgeSeed> next = {{0.5, 1, 2}, {0.5, 1, 3}};
  make("regrapht", config, 0, {{0.5, 1, 0}, {0.5, 1, 1}});
  EXPECT_EQ(step(1.0, next).parent, 0U);
  EXPECT_EQ(step(0.5, next).parent, 1U);
  EXPECT_EQ(step(0.2, next).parent, 2U);
  EXPECT_EQ(step(0.1, next).parent, 0U);  // the cap: a new selection, of the step never taken
}

// What a row says of its method: without lots another seed changes nothing, nor do other priors
// where nobody looks at them.
TEST_F(Baseline, ChoosesByWhatItsRowSays) {
  const auto taken = [&](const SearchMethod& method, std::uint64_t seed, bool rising) {
    std::vector<EdgeSeed> proposals;
    for (const double prior : {0.1, 0.2, 0.3, 0.4})
      proposals.insert(rising ? proposals.end() : proposals.begin(), {prior, 1});
    make(method.name, SelectionConfig{}, seed, proposals);
    std::vector<std::uint32_t> places;
    for (std::size_t at = 0; at < proposals.size(); ++at)
      places.push_back(step(0.5).proposal);
    return places;
  };
  for (const SearchMethod& method : search_methods()) {
    const auto usual = taken(method, 1, true);
    bool same = true;
    for (std::uint64_t seed = 2; seed < 10; ++seed)
      same = same && taken(method, seed, true) == usual;
    if (!method.draws_lots) {
      EXPECT_TRUE(same) << method.name;
    }
    EXPECT_EQ(taken(method, 1, false) == usual, !method.heeds_priors) << method.name;
  }
}

// The page has a row for each method but the first, which it is about.
TEST(SearchMethods, AreDocumentedAndNamedOnce) {
  const auto page =
      read_file(std::filesystem::path(REGRAPH_SOURCE_DIR) / "docs/search.md", 1 << 20);
  ASSERT_TRUE(page);
  std::set<std::string> names;
  for (const SearchMethod& method : search_methods()) {
    EXPECT_TRUE(names.insert(method.name).second) << method.name;
    EXPECT_TRUE(make_searcher(method.name, SelectionConfig{}, 1)) << method.name;
    EXPECT_NE(std::string(method.description), "") << method.name;
    EXPECT_NE(page->find("`" + std::string(method.name) + "`"), std::string::npos) << method.name;
  }
  EXPECT_EQ(search_methods().front().name, SearchConfig{}.searcher);
}

}  // namespace
}  // namespace regraph::baselines_test
