#include "search/selection.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <set>

namespace regraph::selection_test {
namespace {

Hash128 identity(std::uint64_t key) {
  return {key * 0x9E3779B97F4A7C15ULL, key};
}

// The formula once more, edge by edge and in double precision: what each choice at a node scores.
class Reference {
 public:
  Reference(const StateGraph& graph, const SelectionConfig& config) : graph_(graph) {
    low_ = config.value_range->first;
    range_ = config.value_range->second - low_;
    exploration_ = config.exploration_first;
    reduction_ = config.first_play_reduction;
  }
  [[nodiscard]] double norm(FixedScore value) const {
    return std::clamp((to_score(value) - low_) / range_, 0.0, 1.0);
  }
  // Of an issued edge; nothing when it cannot be chosen.
  [[nodiscard]] std::optional<double> issued(EdgeRef edge, double prior) const {
    if (graph_.edge_state(edge) != EdgeState::done) return std::nullopt;
    if (graph_.exhausted(graph_.child(edge))) return std::nullopt;
    const double visits = 1.0 + graph_.node(edge.node).attempts;
    // Nothing is under way here, so attempts are visits.
    return norm(graph_.node(graph_.child(edge)).value) +
           exploration_ * prior * std::sqrt(visits) / (1.0 + graph_.edge_visits(edge));
  }
  [[nodiscard]] double untried(NodeId id, double prior, double tried_prior) const {
    const Node& node = graph_.node(id);
    return std::max(0.0, norm(node.value) - reduction_ * std::sqrt(tried_prior)) +
           exploration_ * prior * std::sqrt(1.0 + node.attempts);
  }

 private:
  const StateGraph& graph_;
  double low_ = 0.0;
  double range_ = 1.0;
  double exploration_ = 1.0;
  double reduction_ = 0.0;
};

SelectionConfig configuration() {
  SelectionConfig config;
  config.exploration_first = config.exploration_last = 0.8;
  config.widening_factor = 0.0;
  config.value_range = {-1.0, 2.0};
  return config;
}

NodeId add(StateGraph& graph, double score, int edges) {
  const NodeId node = graph.add_node(identity(graph.node_count()));
  graph.set_measured(node, score);
  const std::vector<EdgeSeed> seeds(static_cast<std::size_t>(edges), {1.0 / std::max(edges, 1), 1});
  graph.open(node, seeds);
  return node;
}

// Property: every edge of a chosen path scores as much as any other choice there, up to the
// rounding of single precision; and what is kept incrementally stays right. Covers nodes of one
// group of edges, of several, and with more edges than a guess at the next one can name.
TEST(Selector, ChoosesTheHighestScore) {
  constexpr double kRounding = 1e-3;  // a packed prior has 12 bits
  for (const int edges : {3, 4, 5, 17, 300}) {
    std::mt19937 random(static_cast<unsigned>(edges));
    std::uniform_real_distribution<> score(-1.5, 2.5);
    StateGraph graph(0.5, 0.5);
    const SelectionConfig config = configuration();
    Selector selector(config);
    const Reference reference(graph, config);
    const double prior = 1.0 / edges;
    add(graph, 0.0, edges);
    Path path;
    int simulation = 0;
    for (; simulation < 1200; ++simulation) {
      path.clear();
      NodeId at = kRootNode;
      const Selector::Descent end = selector.descend(graph, 0.0, path, at);
      if (end == Selector::Descent::blocked) break;
      ASSERT_EQ(end, Selector::Descent::edge);
      for (const EdgeRef& edge : path) {
        const Node& node = graph.node(edge.node);
        std::optional<double> chosen;
        double highest = -1.0;
        for (std::uint32_t place = 0; place < node.issued; ++place) {
          const std::optional<double> other = reference.issued({edge.node, place}, prior);
          if (place == edge.place) chosen = other;
          highest = std::max(highest, other.value_or(-1.0));
        }
        if (node.next_slot != kNoSlot) {
          const double other = reference.untried(edge.node, prior, node.issued * prior);
          if (edge.place == kNextEdge) chosen = other;
          highest = std::max(highest, other);
        }
        ASSERT_TRUE(chosen.has_value());
        ASSERT_GE(*chosen, highest - kRounding) << edges << " edges, simulation " << simulation;
      }
      graph.begin(path);
      const auto outcome = random() % 8;
      if (outcome == 0) {
        graph.finish_failed(path);
      } else if (outcome == 1) {
        graph.finish(path, static_cast<NodeId>(random() % graph.node_count()));
      } else {
        graph.finish(path, add(graph, score(random), random() % 16 == 0 ? 0 : edges));
      }
      if (simulation % 50 == 0) {
        const Status verified = graph.verify_invariants(0);
        ASSERT_TRUE(verified) << verified.error().message;
      }
    }
    EXPECT_GT(simulation, 1000) << edges << " edges: exhausted early";
  }
}

// Equal scores go to the edge issued first, wherever in its group it lies.
TEST(Selector, TiesGoToTheEdgeIssuedFirst) {
  for (const int edges : {2, 4, 5, 9, 33}) {
    StateGraph graph(0.5, 0.5);
    add(graph, 0.0, edges);
    for (int edge = 0; edge < edges; ++edge) {
      Path path = {{kRootNode, kNextEdge}};
      graph.begin(path);
      graph.finish(path, add(graph, 1.0, 1));
    }
    Selector selector(configuration());
    // Each visit makes its edge less attractive than all that follow it.
    for (std::uint32_t edge = 0; edge < static_cast<std::uint32_t>(edges); ++edge) {
      Path path;
      NodeId at = kRootNode;
      ASSERT_EQ(selector.descend(graph, 0.0, path, at), Selector::Descent::edge);
      ASSERT_EQ(path.front(), (EdgeRef{kRootNode, edge})) << edges << " edges";
      graph.begin(path);
    }
  }
}

// Where everything below a child is under way the parent's next best edge is taken, be the child's
// edge in the first group or a later one; when all is under way the descent says so.
TEST(Selector, BacktracksFromBlockedNodes) {
  constexpr int kChildren = 7;
  StateGraph graph(0.5, 0.5);
  add(graph, 0.0, kChildren);
  for (int child = 0; child < kChildren; ++child) {
    Path path = {{kRootNode, kNextEdge}};
    graph.begin(path);
    graph.finish(path, add(graph, child % 2 == 0 ? 2.0 : 1.0, 1));
  }
  SelectionConfig config = configuration();
  config.exploration_first = config.exploration_last = 0.01;  // the best child first
  Selector selector(config);
  std::set<NodeId> reached;
  for (int visit = 0; visit < kChildren; ++visit) {
    Path path;
    NodeId at = kRootNode;
    ASSERT_EQ(selector.descend(graph, 0.0, path, at), Selector::Descent::edge);
    ASSERT_EQ(path.size(), 2U);
    EXPECT_TRUE(reached.insert(path.back().node).second) << "a blocked node was entered";
    graph.begin(path);
  }
  Path path;
  NodeId at = kRootNode;
  EXPECT_EQ(selector.descend(graph, 0.0, path, at), Selector::Descent::blocked);
  const Status verified = graph.verify_invariants(2 * kChildren);
  EXPECT_TRUE(verified) << verified.error().message;
}

}  // namespace
}  // namespace regraph::selection_test
