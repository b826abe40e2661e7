#include "search/graph_searcher.h"

#include "base/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <set>

namespace regraph::graph_searcher_test {
namespace {

std::unique_ptr<Searcher> make(const char* name, const SelectionConfig& config = {}) {
  Result<std::unique_ptr<Searcher>> searcher = make_searcher(name, config);
  EXPECT_TRUE(searcher);
  return std::move(searcher).value();
}

TEST(MakeSearcher, NamesTheKnownOnes) {
  const auto searcher = make_searcher("mcts", {});
  ASSERT_FALSE(searcher);
  EXPECT_EQ(searcher.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(searcher.error().message.find("mcgs, greedy, beam, random, regrapht"),
            std::string::npos);
}

// A world in which everything that can happen to a ticket happens: refusals, failures,
// transpositions, links to ancestors and to states being measured, equal executables, variants.
class Chaos {
 public:
  explicit Chaos(std::uint64_t seed) : seed_(seed) {}

  std::optional<Hash128> expand(const Ticket& ticket) const {
    const std::uint64_t draw =
        random_bits(seed_, 1, ticket.parent, ticket.proposal, ticket.variant);
    if (draw % 8 == 0) return std::nullopt;
    return Hash128{(draw >> 8) % kStates, 5};
  }
  MeasurementResult measure(const Hash128& identity) const {
    const std::uint64_t draw = random_bits(seed_, 2, identity.low);
    MeasurementResult result;
    result.correct = draw % 6 != 0;
    result.score = 4.0 * to_unit_interval(splitmix64(draw)) - 1.0;
    if (draw % 3 != 0) result.executable = {(draw >> 8) % (kStates / 2), 9};
    result.proposals = proposals(identity);
    return result;
  }
  std::vector<EdgeSeed> proposals(const Hash128& identity) const {
    const std::uint64_t draw = random_bits(seed_, 3, identity.low);
    std::vector<EdgeSeed> result(draw % 6);
    for (std::size_t index = 0; index < result.size(); ++index) {
      result[index] = {0.05 + 0.2 * to_unit_interval(random_bits(draw, index)),
                       static_cast<int>(1 + (draw >> (8 + index)) % 3),
                       static_cast<std::uint32_t>((draw >> (16 + index)) % 4)};
    }
    return result;
  }

 private:
  static constexpr std::uint64_t kStates = 60;
  std::uint64_t seed_;
};

// Property: after every event, in random order and with random numbers under way, everything stored
// equals its recomputation and visits under way match the outstanding tickets.
TEST(GraphSearcher, InvariantsHoldUnderRandomEventOrders) {
  SearchCounts total;
  int exhausted = 0;
  constexpr const char* kSearchers[] = {"mcgs", "greedy", "mcgs", "beam", "random", "regrapht"};
  for (std::uint64_t seed = 1; seed <= 72; ++seed) {
    std::mt19937_64 random(seed);
    const Chaos chaos(seed);
    const auto searcher = make(kSearchers[seed % std::size(kSearchers)]);
    searcher->start({1000, 5}, {1000, 9}, std::vector<EdgeSeed>(5, {0.2, 2, 1}));
    std::vector<Ticket> outstanding;
    const std::size_t window = 1 + seed % 7;
    for (int event = 0; event < 250; ++event) {
      bool issued = false;
      if (outstanding.size() < window && random() % 2 == 0) {
        if (const auto ticket = searcher->next(event / 250.0)) {
          outstanding.push_back(*ticket);
          issued = true;
        }
      }
      if (!issued && !outstanding.empty()) {
        const std::size_t pick = random() % outstanding.size();
        const Ticket ticket = outstanding[pick];
        outstanding.erase(outstanding.begin() + static_cast<std::ptrdiff_t>(pick));
        if (random() % 40 == 0) {
          searcher->abandon(ticket.number);
        } else if (ticket.kind == TicketKind::expand) {
          const Commit commit = searcher->commit_expansion(ticket.number, chaos.expand(ticket));
          if (commit.measure) outstanding.push_back(*commit.measure);
        } else {
          static_cast<void>(searcher->commit_measurement(
              ticket.number, chaos.measure(searcher->graph().identity(ticket.node))));
        }
      }
      const Status verified = searcher->verify();
      ASSERT_TRUE(verified) << "seed " << seed << " event " << event << ": "
                            << verified.error().message;
    }
    for (const Ticket& ticket : outstanding)
      searcher->abandon(ticket.number);
    ASSERT_TRUE(searcher->verify());
    ASSERT_TRUE(searcher->graph().verify_invariants(0)) << "visits left under way";
    const SearchCounts& counts = searcher->counts();
    total.transpositions += counts.transpositions;
    total.machine_code_merges += counts.machine_code_merges;
    total.duplicates += counts.duplicates;
    total.back_edges += counts.back_edges;
    exhausted += searcher->exhausted() ? 1 : 0;
  }
  // The property is worth something only if all of it happened.
  EXPECT_GT(total.transpositions, 100);
  EXPECT_GT(total.machine_code_merges, 100);
  EXPECT_GT(total.duplicates, 20);
  EXPECT_GT(total.back_edges, 20);
  EXPECT_GT(exhausted, 0);
}

TEST(GraphSearcher, StateFoundTwiceWhileBeingMeasuredResolvesBothEdges) {
  const auto searcher = make("mcgs");
  searcher->start({1, 0}, {}, std::vector<EdgeSeed>(2, {0.5, 1}));
  const Ticket first = *searcher->next(0.0);
  const Ticket second = *searcher->next(0.0);
  const Commit expanded = searcher->commit_expansion(first.number, Hash128{2, 0});
  ASSERT_TRUE(expanded.measure);
  const Commit waits = searcher->commit_expansion(second.number, Hash128{2, 0});
  EXPECT_FALSE(waits.measure);
  EXPECT_TRUE(waits.resolved.empty());
  MeasurementResult result;
  result.correct = true;
  result.score = 0.5;
  const Commit measured = searcher->commit_measurement(expanded.measure->number, result);
  ASSERT_EQ(measured.resolved.size(), 2U);
  EXPECT_EQ(measured.resolved[0].edge, EdgeState::done);
  EXPECT_EQ(measured.resolved[1].edge, EdgeState::duplicate);
  EXPECT_EQ(searcher->counts().transpositions, 1);
  EXPECT_TRUE(searcher->exhausted());
  EXPECT_TRUE(searcher->verify());
}

TEST(GraphSearcher, EqualExecutablesAreMerged) {
  const auto searcher = make("mcgs");
  searcher->start({1, 0}, {50, 0}, std::vector<EdgeSeed>(2, {0.5, 1}));
  const Ticket expand = *searcher->next(0.0);
  const Ticket measure = *searcher->commit_expansion(expand.number, Hash128{2, 0}).measure;
  MeasurementResult result;
  result.correct = true;
  result.executable = {50, 0};  // the step changed nothing that runs
  const Commit commit = searcher->commit_measurement(measure.number, result);
  ASSERT_EQ(commit.resolved.size(), 1U);
  EXPECT_EQ(commit.resolved[0].edge, EdgeState::back);
  EXPECT_EQ(commit.resolved[0].child, kRootNode);
  EXPECT_EQ(searcher->graph().find({2, 0}), kRootNode);
}

// ---- the search on a tree, written again without any of the graph's machinery
// ----------------------

struct TreeNode {
  double score = 0.0;
  std::vector<double> priors;
  std::vector<std::unique_ptr<TreeNode>> children;
  std::vector<int> visits;
  [[nodiscard]] int total() const {
    int sum = 1;
    for (const int count : visits)
      sum += count;
    return sum;
  }
  [[nodiscard]] double best() const {
    double result = score;
    for (const auto& child : children) {
      if (child) result = std::max(result, child->best());
    }
    return result;
  }
  [[nodiscard]] double value(double lambda) const {
    double sum = score;
    int weight = 1;
    for (std::size_t slot = 0; slot < children.size(); ++slot) {
      if (!children[slot]) continue;
      sum += visits[slot] * children[slot]->value(lambda);
      weight += visits[slot];
    }
    const double exact = (1.0 - lambda) * sum / weight + lambda * best();
    constexpr double kHalf = 0.5 + 1e-3;  // halves upwards, whatever became of their last bits
    return std::floor(exact / kScoreUnit + kHalf) * kScoreUnit;
  }
};

class TreeSearch {
 public:
  explicit TreeSearch(const SelectionConfig& config) : config_(config) {}

  void attach(TreeNode& node, double score, const std::vector<EdgeSeed>& seeds) {
    node.score = to_score(to_fixed(score));
    for (const EdgeSeed& seed : seeds)
      node.priors.push_back(unpack_prior(pack_prior(seed.prior)));
    node.children.resize(seeds.size());
    node.visits.resize(seeds.size());
    highest_ = std::max(highest_, node.score);
    lowest_ = std::min(lowest_, node.score);
  }
  // Returns the chosen edges from the root on and counts the visit.
  std::vector<std::size_t> descend(double fraction) {
    std::vector<std::size_t> slots;
    TreeNode* at = &root;
    while (at != nullptr) {
      const std::size_t slot = choose(*at, fraction);
      slots.push_back(slot);
      ++at->visits[slot];
      at = at->children[slot].get();
    }
    return slots;
  }
  TreeNode root;

 private:
  double norm(double value) const {
    const double low = std::max(lowest_, root.score - std::log(2.0));
    return std::clamp((value - low) / std::max(highest_ - low, std::log(1.05)), 0.0, 1.0);
  }
  std::size_t choose(const TreeNode& node, double fraction) const {
    const double exploration =
        config_.exploration_last +
        (config_.exploration_first - config_.exploration_last) * (1.0 - fraction);
    double tried = 0.0;
    int issued = 0;
    for (std::size_t slot = 0; slot < node.priors.size(); ++slot) {
      if (node.visits[slot] == 0) continue;
      tried += node.priors[slot];
      ++issued;
    }
    const double fresh = std::max(
        0.0, norm(node.value(config_.max_share)) - config_.first_play_reduction * std::sqrt(tried));
    const bool guarded = issued > 0 && issued >= config_.widening_factor * std::sqrt(node.total());
    std::size_t best = 0;
    double best_score = -1.0;
    for (std::size_t slot = 0; slot < node.priors.size(); ++slot) {
      if (guarded && node.visits[slot] == 0) continue;
      const double quality =
          node.children[slot] ? norm(node.children[slot]->value(config_.max_share)) : fresh;
      const double score = quality + exploration * node.priors[slot] * std::sqrt(node.total()) /
                                         (1.0 + node.visits[slot]);
      if (score <= best_score) continue;
      best_score = score;
      best = slot;
    }
    return best;
  }

  SelectionConfig config_;
  double highest_ = -1e9;
  double lowest_ = 1e9;
};

TEST(Mcgs, EqualsATreeSearchWhenNoStatesMeet) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    SelectionConfig config;  // none of its terms left out
    config.max_share = 0.5;
    config.first_play_reduction = 0.2;
    config.greedy_every = 0;
    const auto searcher = make("mcgs", config);
    TreeSearch tree(config);
    const auto seeds_of = [&](std::uint64_t key) {
      std::vector<EdgeSeed> seeds(5 + random_bits(seed, 1, key) % 6);
      double sum = 0.0;
      for (std::size_t slot = 0; slot < seeds.size(); ++slot) {
        sum += seeds[slot].prior = 0.1 + to_unit_interval(random_bits(seed, 2, key, slot));
      }
      for (EdgeSeed& one : seeds)
        one.prior /= sum;
      return seeds;
    };
    searcher->start({0, 0}, {}, seeds_of(0));
    tree.attach(tree.root, 0.0, seeds_of(0));
    constexpr int kSimulations = 300;
    for (int simulation = 0; simulation < kSimulations; ++simulation) {
      const double fraction = static_cast<double>(simulation) / kSimulations;
      const std::uint64_t key = static_cast<std::uint64_t>(simulation) + 1;
      const double score = 2.0 * to_unit_interval(random_bits(seed, 3, key)) - 0.5;

      const Ticket expand = *searcher->next(fraction);
      const Ticket measure = *searcher->commit_expansion(expand.number, Hash128{key, 0}).measure;
      MeasurementResult result;
      result.correct = true;
      result.score = score;
      result.proposals = seeds_of(key);
      static_cast<void>(searcher->commit_measurement(measure.number, result));

      const std::vector<std::size_t> slots = tree.descend(fraction);
      TreeNode* parent = &tree.root;
      for (std::size_t depth = 0; depth + 1 < slots.size(); ++depth) {
        parent = parent->children[slots[depth]].get();
      }
      parent->children[slots.back()] = std::make_unique<TreeNode>();
      tree.attach(*parent->children[slots.back()], score, seeds_of(key));

      // The same parent, recognised by its score, and the same proposal.
      ASSERT_EQ(to_score(searcher->graph().score(expand.parent)), parent->score)
          << "seed " << seed << " simulation " << simulation;
      ASSERT_EQ(expand.proposal, slots.back());
    }
    // A value that is almost half way between two units may go either way.
    EXPECT_NEAR(to_score(searcher->graph().node(kRootNode).value),
                tree.root.value(config.max_share), kScoreUnit);
    EXPECT_EQ(searcher->graph().visits(kRootNode), static_cast<std::uint64_t>(tree.root.total()));
  }
}

TEST(Mcgs, SpreadsVisitsUnderWayWithoutLoweringValues) {
  const auto searcher = make("mcgs");
  searcher->start({0, 0}, {}, std::vector<EdgeSeed>{{0.6, 1}, {0.3, 1}, {0.1, 1}});
  const FixedScore before = searcher->graph().node(kRootNode).value;
  std::set<std::uint32_t> proposals;
  for (int ticket = 0; ticket < 3; ++ticket)
    proposals.insert(searcher->next(0.0)->proposal);
  EXPECT_EQ(proposals.size(), 3U);
  EXPECT_FALSE(searcher->next(0.0));  // all under way: blocked, but not exhausted
  EXPECT_FALSE(searcher->exhausted());
  EXPECT_EQ(searcher->graph().node(kRootNode).value, before);
}

TEST(Greedy, TakesTheLikeliestStepOfTheBestState) {
  const auto searcher = make("greedy");
  searcher->start({0, 0}, {}, std::vector<EdgeSeed>{{0.2, 1}, {0.5, 1}, {0.3, 1}});
  const Ticket first = *searcher->next(0.0);
  EXPECT_EQ(first.proposal, 1U);
  const Ticket measure = *searcher->commit_expansion(first.number, Hash128{1, 0}).measure;
  MeasurementResult result;
  result.correct = true;
  result.score = 0.7;
  result.proposals = {{0.1, 1}, {0.9, 1}};
  static_cast<void>(searcher->commit_measurement(measure.number, result));
  const Ticket second = *searcher->next(0.0);
  EXPECT_EQ(second.parent, measure.node);
  EXPECT_EQ(second.proposal, 1U);
}

}  // namespace
}  // namespace regraph::graph_searcher_test
