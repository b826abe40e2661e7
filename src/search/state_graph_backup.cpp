// Backup: keeps V and Q of all ancestors equal to their definition.
#include "search/state_graph.h"

#include <algorithm>

namespace regraph {

namespace {

__extension__ using Wide = __int128;

}  // namespace

// In integers: the nodes of a path wait for each other's values, and from one to the next this
// takes half the time that conversions to floating point and back would. The weight of a node's sum
// needs a division, but does not wait.
FixedScore StateGraph::backed_up_value(const Node& node) const {
  // 2^31 visits of scores at their limit leave 11 bits of a sum unused. The high half of its
  // product with a weight then has 2^8 parts of a unit.
  constexpr int kSumBits = 10;
  constexpr int kPartBits = kSumBits + kWeightBits - 64;
  // Halves are rounded upwards, also where mean and best have each lost a fraction of a part.
  constexpr std::int64_t kHalf = (std::int64_t{1} << (kPartBits - 1)) + 2;
  const double quotient = mean_weight_ / (1.0 + static_cast<double>(node.done_visits));
  const auto weight = static_cast<std::int64_t>(quotient);
  const auto mean =
      static_cast<std::int64_t>((static_cast<Wide>(node.weighted_sum << kSumBits) * weight) >> 64);
  const std::int64_t best = (std::int64_t{node.best} * best_weight_) >> (kShareBits - kPartBits);
  return static_cast<FixedScore>((mean + best + kHalf) >> kPartBits);
}

// Recomputes V and Q; whether either changed.
inline bool StateGraph::recompute(Node& node) const {
  const FixedScore before = node.value;
  const FixedScore after = backed_up_value(node);
  // Both are looked at: whether a value changes is nothing to jump on.
  const bool changed = (after != before) | node.best_raised;
  node.value = after;
  node.pending = false;
  node.best_raised = false;
  return changed;
}

// Takes a child's new value over into an edge that leads to it; returns by how much the sum of its
// node rises.
inline std::int64_t StateGraph::take_over(Node& parent, EdgeGroup& group, std::uint32_t lane,
                                          const Node& child, FixedScore before) {
  // What cannot be selected any more stays so.
  if (group.value[lane] != kUnselectable) group.value[lane] = child.value;
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
    parent.weighted_sum += take_over(parent, group_of(edge), lane_of(edge.place), node, before);
    if (parent.pending) return;
    parent.pending = true;
    waiting_.push_back({edge.node, last_waiting_[parent.rank]});
    last_waiting_[parent.rank] = static_cast<std::uint32_t>(waiting_.size());
    waiting_end_ = std::max(waiting_end_, parent.rank + 1);
  });
}

// Completes the visit on all edges but the last, whose outcome its node knows already; recomputes
// the path's nodes from the bottom and every other ancestor whose value changes, each after all of
// its descendants.
void StateGraph::settle(const Path& path) {
  std::int64_t rise = 0;  // of a node's sum; in a register, as every node waits for the one below
  Node* const nodes = nodes_.data();
  EdgeGroup* const groups = groups_.data();
  const EdgeRef* const edges = path.data();
  for (std::size_t depth = path.size() - 1; depth > 0; --depth) {
    Node& node = nodes[edges[depth].node];
    if (waiting_end_ > node.rank + 1) settle_from(node.rank + 1);
    const FixedScore before = node.value;
    node.weighted_sum += rise;
    const bool changed = recompute(node);
    const EdgeRef up = edges[depth - 1];
    // Changed, and known to others: each is anyone's guess, both together are rare.
    const std::uint32_t others = node.more_parents & -static_cast<std::uint32_t>(changed);
    if (others != 0) pass_up(node, before, up);
    Node& parent = nodes[up.node];
    EdgeGroup& group = group_at(parent, groups, up.place);
    const std::uint32_t lane = lane_of(up.place);
    group.land(lane);
    ++parent.done_visits;
    rise = before + take_over(parent, group, lane, node, before);
  }
  Node& top = nodes_[path.front().node];
  if (waiting_end_ > top.rank + 1) settle_from(top.rank + 1);
  const FixedScore before = top.value;
  top.weighted_sum += rise;
  if (recompute(top)) pass_up(top, before, {});
  if (waiting_end_ > 0) settle_from(0);
}

// Recomputes the waiting nodes of `rank` and above.
void StateGraph::settle_from(std::uint32_t rank) {
  while (waiting_end_ > rank) {
    std::uint32_t& last = last_waiting_[waiting_end_ - 1];
    for (std::uint32_t index = last; index != 0;) {  // their parents have lower ranks
      const Waiting waiting = waiting_[index - 1];
      index = waiting.next;
      Node& node = nodes_[waiting.node];
      const FixedScore before = node.value;
      ++settled_;
      if (recompute(node)) pass_up(node, before, {});
    }
    last = 0;
    --waiting_end_;
    if (settled_ == waiting_.size()) {
      settled_ = waiting_end_ = 0;
      waiting_.clear();
    }
  }
}

}  // namespace regraph
