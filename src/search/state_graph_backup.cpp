// Backup: keeps V and Q of all ancestors equal to their definition.
#include "search/state_graph.h"

#include <algorithm>
#include <bit>

namespace regraph {

FixedScore StateGraph::backed_up_value(const Node& node) const {
  // The quotient first, without what has just been summed: nodes of a path wait for each other's
  // sums, divisions need not.
  const double weight = (1.0 - max_share_) / (1.0 + static_cast<double>(node.done_visits));
  const double value =
      static_cast<double>(node.score + node.weighted_sum) * weight + max_share_ * node.best;
  // Added to 1.5 * 2^52, a double is rounded to an integer, its low bits: no slow conversion.
  constexpr double kIntegersOnly = 0x1.8p52;
  return static_cast<FixedScore>(std::bit_cast<std::uint64_t>(value + kIntegersOnly));
}

// Recomputes V and Q; whether either changed.
inline bool StateGraph::recompute(Node& node) const {
  node.pending = false;
  const FixedScore before = node.value;
  node.value = backed_up_value(node);
  const bool changed = node.value != before || node.best_raised;
  node.best_raised = false;
  return changed;
}

// Takes a child's new value over into an edge that leads to it; returns by how much the sum of its
// node rises.
inline std::int64_t StateGraph::take_over(EdgeRef edge, const Node& child, FixedScore before) {
  Node& parent = nodes_[edge.node];
  EdgeGroup& group = group_of(edge);
  const std::uint32_t lane = lane_of(edge.place);
  if (!(child.open && child.live == 0)) group.value[lane] = child.value;
  if (child.best > parent.best) {
    parent.best = child.best;
    parent.best_raised = true;
  }
  return std::int64_t{group.visits(lane)} * (std::int64_t{child.value} - before);
}

// Tells all parents of a recomputed node but `told`.
void StateGraph::pass_up(const Node& node, FixedScore before, EdgeRef told) {
  for_each_parent(node, [&](EdgeRef edge) {
    if (edge == told) return;
    Node& parent = nodes_[edge.node];
    parent.weighted_sum += take_over(edge, node, before);
    if (parent.pending) return;
    parent.pending = true;
    waiting_[parent.rank].push_back(edge.node);
    waiting_end_ = std::max(waiting_end_, parent.rank + 1);
  });
}

// Recomputes the path's nodes from the bottom and every other ancestor whose value changes, each
// once and after all of its descendants.
void StateGraph::settle(const Path& path) {
  std::int64_t rise = 0;  // of a node's sum; in a register, as every node waits for the one below
  for (std::size_t depth = path.size(); depth-- > 0;) {
    Node& node = nodes_[path[depth].node];
    if (waiting_end_ > node.rank + 1) settle_from(node.rank + 1);
    const FixedScore before = node.value;
    node.weighted_sum += rise;
    rise = 0;
    if (!recompute(node)) continue;
    if (depth == 0) {
      pass_up(node, before, {});
    } else {
      rise = take_over(path[depth - 1], node, before);
      if (node.more_parents != 0) pass_up(node, before, path[depth - 1]);
    }
  }
  if (waiting_end_ > 0) settle_from(0);
}

// Recomputes the waiting nodes of `rank` and above.
void StateGraph::settle_from(std::uint32_t rank) {
  while (waiting_end_ > rank) {
    std::vector<NodeId>& waiting = waiting_[waiting_end_ - 1];
    for (const NodeId id : waiting) {  // their parents have lower ranks
      Node& node = nodes_[id];
      const FixedScore before = node.value;
      if (recompute(node)) pass_up(node, before, {});
    }
    waiting.clear();
    --waiting_end_;
  }
}

}  // namespace regraph
