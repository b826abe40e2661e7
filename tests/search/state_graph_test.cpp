#include "search/state_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

namespace regraph::state_graph_test {
namespace {

Hash128 identity(std::uint64_t key) {
  return {key * 0x9E3779B97F4A7C15ULL, key};
}

// A graph whose nodes are all measured and open, each with `edges` edges of equal priors.
class Fixture {
 public:
  Fixture(double max_share, const std::vector<double>& scores, int edges) : graph(max_share, 0.5) {
    const std::vector<EdgeSeed> seeds(static_cast<std::size_t>(edges), {1.0 / edges, 1});
    for (const double score : scores) {
      const NodeId node = graph.add_node(identity(graph.node_count()));
      graph.set_measured(node, score);
      graph.open(node, seeds);
    }
  }
  // Completes a visit of one edge alone, as if its own node had been the start.
  EdgeState link(NodeId from, NodeId to) {
    Path path = {{from, kNextEdge}};
    graph.begin(path);
    return graph.finish(path, to);
  }
  // Visits a chain of DONE edges again, which leads to `end`, where one more step fails.
  void visit(Path path, NodeId end) {
    path.push_back({end, kNextEdge});
    graph.begin(path);
    graph.finish_failed(path);
  }
  [[nodiscard]] double value(NodeId node) const { return to_score(graph.node(node).value); }
  [[nodiscard]] double best(NodeId node) const { return to_score(graph.node(node).best); }

  StateGraph graph;
};

TEST(FixedScore, RoundsToTheNearestUnitAndLimits) {
  EXPECT_EQ(to_fixed(0.0), 0);
  EXPECT_EQ(to_fixed(1.0), 1 << kScoreFractionBits);
  EXPECT_EQ(to_fixed(-1.0), -(1 << kScoreFractionBits));
  EXPECT_NEAR(to_score(to_fixed(0.123456)), 0.123456, kScoreUnit / 2);
  EXPECT_GT(to_fixed(-1e300), kUnselectable);
  EXPECT_EQ(to_score(to_fixed(1e300)), kScoreLimit);
}

TEST(PackedPrior, KeepsRelativePrecision) {
  for (double prior = 0.99; prior > 2e-5; prior *= 0.93) {
    EXPECT_NEAR(unpack_prior(pack_prior(prior)) / prior, 1.0, 1.0 / 4096) << prior;
  }
  EXPECT_GE(unpack_prior(pack_prior(1.0)), 0.999F);
  EXPECT_GT(unpack_prior(pack_prior(0.0)), 0.0F);
  EXPECT_GT(unpack_prior(pack_prior(-1.0)), 0.0F);
}

TEST(StateGraph, BacksUpMeanAndBest) {
  Fixture fixture(0.5, {0.0, 1.0, -0.5}, 3);
  EXPECT_EQ(fixture.link(0, 1), EdgeState::done);
  // Q = 0.5 * (0 + 1) / 2 + 0.5 * 1
  EXPECT_NEAR(fixture.value(0), 0.75, kScoreUnit);
  EXPECT_EQ(fixture.link(0, 2), EdgeState::done);
  EXPECT_NEAR(fixture.value(0), 0.5 * (0.0 + 1.0 - 0.5) / 3 + 0.5, kScoreUnit);
  EXPECT_DOUBLE_EQ(fixture.best(0), 1.0);
  EXPECT_EQ(fixture.graph.visits(0), 3U);
  EXPECT_TRUE(fixture.graph.verify_invariants(0))
      << fixture.graph.verify_invariants(0).error().message;
}

TEST(StateGraph, FailuresCountAsVisitsButNotAsValues) {
  Fixture fixture(0.5, {0.3}, 2);
  Path path = {{0, kNextEdge}};
  fixture.graph.begin(path);
  EXPECT_EQ(path, (Path{{0, 0}}));
  EXPECT_EQ(fixture.graph.visits(0), 1U);
  EXPECT_TRUE(fixture.graph.verify_invariants(1));
  EXPECT_FALSE(fixture.graph.verify_invariants(0));
  fixture.graph.finish_failed(path);
  EXPECT_EQ(fixture.graph.visits(0), 2U);
  EXPECT_NEAR(fixture.value(0), 0.3, kScoreUnit);
  EXPECT_EQ(fixture.graph.edge_state({0, 0}), EdgeState::failed);
}

TEST(StateGraph, AbandonedVisitsCountNothing) {
  Fixture fixture(0.5, {0.3, 0.4}, 2);
  fixture.link(0, 1);
  const FixedScore before = fixture.graph.node(0).value;
  Path path = {{0, 0}, {1, kNextEdge}};
  fixture.graph.begin(path);
  EXPECT_EQ(fixture.graph.node(0).attempts, 2U);
  fixture.graph.abandon(path);
  EXPECT_EQ(fixture.graph.node(0).attempts, 1U);
  EXPECT_EQ(fixture.graph.node(1).attempts, 0U);
  EXPECT_EQ(fixture.graph.node(0).value, before);
  EXPECT_EQ(fixture.graph.edge_state({1, 0}), EdgeState::abandoned);
  EXPECT_TRUE(fixture.graph.verify_invariants(0));
}

TEST(StateGraph, OpensVariantsOneAfterTheOther) {
  StateGraph graph(0.5, 0.5);
  graph.set_measured(graph.add_node(identity(0)), 0.0);
  const std::vector<EdgeSeed> seeds = {{0.8, 3}, {0.2, 1}};
  graph.open(0, seeds);
  // 0.8, then its second variant 0.4, then 0.2 twice: the third variant was proposed first.
  for (const std::uint32_t expected : {0U, 1U, 2U, 3U}) {
    EXPECT_FALSE(graph.exhausted(0));
    Path path = {{0, kNextEdge}};
    EXPECT_EQ(graph.begin(path), expected);
    graph.finish_failed(path);
    EXPECT_TRUE(graph.verify_invariants(0));
  }
  EXPECT_TRUE(graph.exhausted(0));
}

TEST(StateGraph, IssuesEdgesByPriorWithVariantsUnderWay) {
  StateGraph graph(0.5, 0.5);
  graph.set_measured(graph.add_node(identity(0)), 0.0);
  const std::vector<EdgeSeed> seeds = {{0.1, 1}, {0.5, 2}, {0.3, 1}, {0.1, 1}};
  graph.open(0, seeds);
  std::vector<std::uint32_t> slots;
  std::vector<Path> paths;
  for (std::uint64_t issued = 1; issued <= 5; ++issued) {
    paths.push_back({{0, kNextEdge}});
    slots.push_back(graph.begin(paths.back()));
    EXPECT_TRUE(graph.verify_invariants(issued));
  }
  EXPECT_EQ(slots, (std::vector<std::uint32_t>{1, 3, 2, 0, 4}));
  for (const Path& path : paths)
    graph.finish_failed(path);
  EXPECT_TRUE(graph.verify_invariants(0));
}

TEST(StateGraph, LinksToAncestorsAreBackEdges) {
  Fixture fixture(0.5, {0.0, 1.0, 2.0}, 3);
  fixture.link(0, 1);
  fixture.link(1, 2);
  EXPECT_EQ(fixture.link(2, 0), EdgeState::back);
  EXPECT_EQ(fixture.link(2, 1), EdgeState::back);
  EXPECT_EQ(fixture.link(2, 2), EdgeState::back);
  EXPECT_EQ(fixture.graph.visits(2), 4U);
  EXPECT_DOUBLE_EQ(fixture.value(2), 2.0);
  EXPECT_TRUE(fixture.graph.verify_invariants(0));
}

TEST(StateGraph, SecondEdgeOfAParentToTheSameChildIsADuplicate) {
  Fixture fixture(0.0, {0.0, 1.0}, 3);
  EXPECT_EQ(fixture.link(0, 1), EdgeState::done);
  EXPECT_EQ(fixture.link(0, 1), EdgeState::duplicate);
  EXPECT_NEAR(fixture.value(0), 0.5, kScoreUnit);
  EXPECT_TRUE(fixture.graph.verify_invariants(0));
}

TEST(StateGraph, ExhaustionReachesEveryParent) {
  // 0 -> 1 -> 3 and 0 -> 2 -> 3; one edge each for 1 and 2.
  StateGraph graph(0.5, 0.5);
  for (int node = 0; node < 4; ++node) {
    graph.set_measured(graph.add_node(identity(static_cast<std::uint64_t>(node))), node);
  }
  const std::vector<EdgeSeed> two(2, {0.5, 1});
  const std::vector<EdgeSeed> one(1, {1.0, 1});
  graph.open(0, two);
  graph.open(1, one);
  graph.open(2, one);
  graph.open(3, one);
  const auto link = [&](NodeId from, NodeId to) {
    Path path = {{from, kNextEdge}};
    graph.begin(path);
    graph.finish(path, to);
  };
  link(0, 1);
  link(0, 2);
  link(1, 3);
  link(2, 3);
  EXPECT_FALSE(graph.exhausted(0));
  Path last = {{3, kNextEdge}};
  graph.begin(last);
  EXPECT_FALSE(graph.exhausted(0));
  graph.finish_failed(last);
  for (NodeId node = 0; node < 4; ++node)
    EXPECT_TRUE(graph.exhausted(node)) << node;
  EXPECT_TRUE(graph.verify_invariants(0));
}

TEST(StateGraph, AliasesAreFoundAsTheirTarget) {
  Fixture fixture(0.5, {0.0}, 2);
  const NodeId twin = fixture.graph.add_node(identity(77));
  EXPECT_EQ(fixture.graph.find(identity(77)), twin);
  fixture.graph.set_alias(twin, 0);
  EXPECT_EQ(fixture.graph.find(identity(77)), kRootNode);
  EXPECT_TRUE(fixture.graph.verify_invariants(0));
}

// A visited a child C 30 times; C's value rises through visits that came by another parent. A never
// sees those visits, yet its value must follow.
TEST(StateGraph, AParentFollowsAChildThatOthersImprove) {
  enum : NodeId { kRoot, kA, kC, kOther, kTactic };
  Fixture fixture(0.0, {0.0, 0.38, 0.39, 0.38, 0.60}, 200);
  fixture.link(kRoot, kA);
  fixture.link(kRoot, kOther);
  fixture.link(kA, kC);
  fixture.link(kOther, kC);
  while (fixture.graph.edge_visits({kA, 0}) < 30)
    fixture.visit({{kA, 0}}, kC);
  EXPECT_NEAR(fixture.value(kC), 0.39, 0.001);
  EXPECT_NEAR(fixture.value(kA), 0.39, 0.001);

  Path found = {{kOther, 0}, {kC, kNextEdge}};
  fixture.graph.begin(found);
  fixture.graph.finish(found, kTactic);
  while (fixture.value(kC) < 0.51)
    fixture.visit(found, kTactic);
  EXPECT_NEAR(fixture.value(kC), 0.51, 0.06);
  EXPECT_EQ(fixture.graph.edge_visits({kA, 0}), 30U);
  EXPECT_NEAR(fixture.value(kA), (0.38 + 30 * fixture.value(kC)) / 31, 2 * kScoreUnit);
  EXPECT_GT(fixture.value(kA), 0.50);
  EXPECT_TRUE(fixture.graph.verify_invariants(0));
}

// D leads to the good E and, once, to the bad F. 100 visits that others pay to F must not drag D
// down.
TEST(StateGraph, ForeignVisitsToABadChildDoNotCountHere) {
  enum : NodeId { kRoot, kD, kOther, kE, kF, kWorse };
  Fixture fixture(0.0, {0.0, 0.55, 0.3, 0.56, 0.15, 0.15}, 200);
  fixture.link(kRoot, kD);
  fixture.link(kRoot, kOther);
  fixture.link(kD, kE);
  fixture.link(kD, kF);
  fixture.link(kOther, kF);
  fixture.link(kF, kWorse);
  for (int visit = 0; visit < 38; ++visit)
    fixture.visit({{kD, 0}}, kE);
  const double before = fixture.value(kD);
  EXPECT_NEAR(before, 0.55, 0.01);
  for (int visit = 0; visit < 100; ++visit)
    fixture.visit({{kOther, 0}, {kF, 0}}, kWorse);
  EXPECT_EQ(fixture.graph.edge_visits({kOther, 0}), 101U);
  EXPECT_EQ(fixture.graph.edge_visits({kD, 1}), 1U);
  EXPECT_NEAR(fixture.value(kD), before, 2 * kScoreUnit);
  EXPECT_TRUE(fixture.graph.verify_invariants(0));
}

// Property: the same completed edges give the same values in whatever order they were completed.
TEST(StateGraph, ValuesDoNotDependOnTheOrderOfEvents) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    constexpr int kNodes = 24;
    constexpr int kEdges = 6;
    std::vector<double> scores;
    for (int node = 0; node < kNodes; ++node) {
      scores.push_back(std::uniform_real_distribution<>(-2.0, 3.0)(random));
    }
    struct Link {
      NodeId from, to;
    };
    std::vector<Link> links;
    for (NodeId from = 0; from + 1 < kNodes; ++from) {
      // Children above the parent, no child twice; the next node always, so that all are reachable.
      std::vector<NodeId> children(kNodes - from - 1);
      std::iota(children.begin(), children.end(), from + 1);
      std::shuffle(children.begin() + 1, children.end(), random);
      const auto count = std::min<std::size_t>(children.size(), 1 + random() % kEdges);
      for (std::size_t index = 0; index < count; ++index)
        links.push_back({from, children[index]});
    }
    std::vector<FixedScore> expected;
    for (int order = 0; order < 5; ++order) {
      Fixture fixture(0.5, scores, kEdges);
      for (const Link& link : links) {
        ASSERT_EQ(fixture.link(link.from, link.to), EdgeState::done);
      }
      const Status verified = fixture.graph.verify_invariants(0);
      ASSERT_TRUE(verified) << verified.error().message;
      std::vector<FixedScore> values;
      for (NodeId node = 0; node < kNodes; ++node)
        values.push_back(fixture.graph.node(node).value);
      if (order == 0) expected = values;
      ASSERT_EQ(values, expected);
      std::ranges::shuffle(links, random);
    }
  }
}

// Property: whatever links are asked for, cycles included, the DONE edges stay acyclic and
// everything kept incrementally equals its recomputation after every event.
TEST(StateGraph, StaysAcyclicUnderRandomLinks) {
  std::mt19937 random(99);
  int back = 0;
  for (int round = 0; round < 30; ++round) {
    constexpr NodeId kNodes = 20;
    constexpr std::uint32_t kEdges = 8;
    StateGraph graph(0.5, 0.5);
    const std::vector<EdgeSeed> seeds(kEdges, {1.0 / kEdges, 1});
    const auto add = [&] {
      const NodeId node = graph.add_node(identity(graph.node_count()));
      graph.set_measured(node, std::uniform_real_distribution<>(-1.0, 1.0)(random));
      graph.open(node, seeds);
      return node;
    };
    add();
    std::map<NodeId, std::uint32_t> used;
    for (int event = 0; event < 140; ++event) {
      const auto from = static_cast<NodeId>(random() % graph.node_count());
      if (used[from] == kEdges) continue;
      ++used[from];
      Path path = {{from, kNextEdge}};
      const bool fresh = graph.node_count() < kNodes && random() % 3 == 0;
      const NodeId to = fresh ? add() : static_cast<NodeId>(random() % graph.node_count());
      graph.begin(path);
      const EdgeState state = graph.finish(path, to);
      if (fresh) {
        ASSERT_EQ(state, EdgeState::done);
      }
      back += state == EdgeState::back ? 1 : 0;
      const Status verified = graph.verify_invariants(0);
      ASSERT_TRUE(verified) << verified.error().message;
    }
  }
  EXPECT_GT(back, 100);
}

TEST(StateGraph, AnAdoptedChildCountsForBothParents) {
  Fixture f(1.0, {0.0, 0.5, 0.4, 1.5}, 3);
  ASSERT_EQ(f.link(0, 1), EdgeState::done);
  ASSERT_EQ(f.link(0, 2), EdgeState::done);
  ASSERT_EQ(f.link(1, 3), EdgeState::done);
  EXPECT_DOUBLE_EQ(f.best(2), to_score(to_fixed(0.4)));
  ASSERT_TRUE(f.graph.adopt(2, 3));
  EXPECT_DOUBLE_EQ(f.best(2), 1.5);
  EXPECT_TRUE(f.graph.verify_invariants(0)) << f.graph.verify_invariants(0).error().message;
  // Not twice, not to itself, and to no ancestor.
  EXPECT_FALSE(f.graph.adopt(2, 3));
  EXPECT_FALSE(f.graph.adopt(3, 3));
  EXPECT_FALSE(f.graph.adopt(3, 1));
  EXPECT_FALSE(f.graph.adopt(3, 0));
  EXPECT_TRUE(f.graph.verify_invariants(0));
}

// Whatever is adopted when: all that is kept up to date is as if made from scratch, also with
// visits under way and nodes that become exhausted.
TEST(StateGraph, AdoptionsKeepTheInvariants) {
  int adopted = 0;
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::size_t count) {
      return static_cast<NodeId>(random() % std::max<std::size_t>(count, 1));
    };
    StateGraph graph(0.5, 0.5);
    std::vector<Path> under_way;
    const auto add = [&] {
      const NodeId node = graph.add_node(identity(graph.node_count() + 1));
      graph.set_measured(node, static_cast<double>(random() % 1000) / 500.0 - 0.5);
      const std::vector<EdgeSeed> seeds(random() % 6, {0.2, 1});
      graph.open(node, seeds);
      return node;
    };
    const NodeId root = graph.add_node(identity(0));
    graph.set_measured(root, 0.0);
    graph.open(root, std::vector<EdgeSeed>(12, {1.0 / 12, 1}));
    std::vector<NodeId> reachable = {root};
    for (int event = 0; event < 200; ++event) {
      const NodeId from = reachable[below(reachable.size())];
      if (random() % 3 == 0) {
        adopted += graph.adopt(from, reachable[below(reachable.size())]) ? 1 : 0;
      } else if (random() % 4 == 0 && !under_way.empty()) {
        graph.finish_failed(under_way.back());
        under_way.pop_back();
      } else if (graph.node(from).next_slot != kNoSlot) {
        Path path = {{from, kNextEdge}};
        graph.begin(path);
        if (random() % 4 == 0) {
          under_way.push_back(path);
        } else {
          const bool known = random() % 4 == 0;
          const NodeId child = known ? reachable[below(reachable.size())] : add();
          graph.finish(path, child);
          if (!known) reachable.push_back(child);
        }
      }
      const Status whole = graph.verify_invariants(under_way.size());
      ASSERT_TRUE(whole) << seed << " " << event << ": " << whole.error().message;
    }
  }
  EXPECT_GT(adopted, 100);
}

}  // namespace
}  // namespace regraph::state_graph_test
