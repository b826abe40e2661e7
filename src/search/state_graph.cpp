#include "search/state_graph.h"

#include <algorithm>
#include <cassert>

namespace regraph {

NodeId StateGraph::add_node(const Hash128& identity) {
  assert(nodes_.size() < kMaxNodes && table_.find(identity, identities_) == table_.kAbsent);
  const auto node = static_cast<NodeId>(nodes_.size());
  nodes_.emplace_back();
  identities_.push_back(identity);
  table_.add(node, identities_);
  return node;
}

NodeId StateGraph::find(const Hash128& identity) const {
  const std::uint32_t node = table_.find(identity, identities_);
  if (node == TranspositionTable::kAbsent) return kNoNode;
  if (nodes_[node].state != NodeState::alias) return node;
  return aliases_.at(node);
}

void StateGraph::set_measured(NodeId node, double score) {
  Node& measured = nodes_[node];
  assert(measured.state == NodeState::in_flight);
  measured.state = NodeState::measured;
  measured.score = measured.best = measured.value = to_fixed(score);
  highest_score_ = std::max(highest_score_, measured.score);
  lowest_score_ = std::min(lowest_score_, measured.score);
}

void StateGraph::set_failed(NodeId node) {
  assert(nodes_[node].state == NodeState::in_flight);
  nodes_[node].state = NodeState::failed;
}

void StateGraph::set_alias(NodeId node, NodeId target) {
  assert(nodes_[node].state == NodeState::in_flight && node != target);
  nodes_[node].state = NodeState::alias;
  aliases_[node] = target;
}

void StateGraph::open(NodeId node, std::span<const EdgeSeed> seeds) {
  constexpr std::uint32_t kMaxEdges = 0xFFFF;
  assert(nodes_[node].state == NodeState::measured && !nodes_[node].open);
  std::uint32_t count = 0;
  for (const EdgeSeed& seed : seeds)
    count += static_cast<std::uint32_t>(std::max(seed.variants, 1));
  count = std::min(count, kMaxEdges);

  Node& opened = nodes_[node];
  opened.open = true;
  opened.edges = static_cast<std::uint16_t>(count);
  opened.block = static_cast<std::uint32_t>(words_.size());
  const std::uint32_t stride = EdgeBlock::stride(count);
  words_.resize(words_.size() + std::size_t{stride} * EdgeBlock::kWordsPerEdge);
  const EdgeBlock block = block_of(opened);
  std::fill_n(block.value, stride, kUnselectable);

  std::uint32_t slot = 0;
  for (const EdgeSeed& seed : seeds) {
    double prior = seed.prior;
    const int variants = std::max(seed.variants, 1);
    for (int variant = 0; variant < variants && slot < count; ++variant, ++slot) {
      const bool more = variant + 1 < variants && slot + 1 < count;
      block.link[slot] = more ? EdgeBlock::kNextVariantBit : 0;
      block.set(slot, variant == 0 ? EdgeState::untried : EdgeState::closed, kNoNode);
      block.packed[slot] = pack_prior(prior);
      if (variant == 0) {
        block.value[slot] = kUntriedValue;
        ++opened.live;
      }
      prior *= variant_decay_;
    }
  }
  if (opened.live == 0) {
    for_each_parent(opened, [&](NodeId parent, std::uint32_t from) { retire_edge(parent, from); });
  }
}

void StateGraph::begin(const Path& path) {
  constexpr std::uint32_t kOneInFlight = 1U << EdgeBlock::kInFlightShift;
  for (const EdgeRef& step : path) {
    Node& node = nodes_[step.node];
    const EdgeBlock block = block_of(node);
    ++node.attempts;
    ++block.attempts[step.slot];
    block.packed[step.slot] += kOneInFlight;
  }
  const EdgeRef last = path.back();
  Node& node = nodes_[last.node];
  const EdgeBlock block = block_of(node);
  assert(block.state(last.slot) == EdgeState::untried);
  block.set(last.slot, EdgeState::in_flight, kNoNode);
  block.value[last.slot] = kUnselectable;
  ++node.issued;
  node.tried_prior += prior_sum_units(block.packed[last.slot] & EdgeBlock::kPriorMask);
  if (block.has_next_variant(last.slot) && block.state(last.slot + 1) == EdgeState::closed) {
    block.set(last.slot + 1, EdgeState::untried, kNoNode);
    block.value[last.slot + 1] = kUntriedValue;
    ++node.live;
  }
}

// Turns the visit from under way to completed on all edges; the last edge's outcome is the
// caller's.
void StateGraph::complete_prefix(const Path& path) {
  constexpr std::uint32_t kOneInFlight = 1U << EdgeBlock::kInFlightShift;
  for (std::size_t depth = 0; depth < path.size(); ++depth) {
    const EdgeRef& step = path[depth];
    Node& node = nodes_[step.node];
    const EdgeBlock block = block_of(node);
    block.packed[step.slot] -= kOneInFlight;
    node.pending = true;
    if (depth + 1 == path.size()) break;
    ++node.done_visits;
    node.weighted_sum += nodes_[path[depth + 1].node].value;
  }
}

void StateGraph::finish_failed(const Path& path) {
  const EdgeRef last = path.back();
  assert(edges(last.node).state(last.slot) == EdgeState::in_flight);
  complete_prefix(path);
  edges(last.node).set(last.slot, EdgeState::failed, kNoNode);
  retire_edge(last.node, last.slot);
  settle(path);
}

EdgeState StateGraph::finish(const Path& path, NodeId child) {
  const EdgeRef last = path.back();
  Node& parent = nodes_[last.node];
  const EdgeBlock block = block_of(parent);
  assert(block.state(last.slot) == EdgeState::in_flight);
  assert(nodes_[child].state == NodeState::measured);
  complete_prefix(path);

  EdgeState state = EdgeState::done;
  if (child == last.node) {
    state = EdgeState::back;
  } else if (nodes_[child].parent != kNoNode || child == kRootNode) {  // known before this edge
    for (std::uint32_t slot = 0; slot < parent.edges && state == EdgeState::done; ++slot) {
      const EdgeState other = block.state(slot);
      if ((other == EdgeState::done || other == EdgeState::back) && block.child(slot) == child) {
        state = EdgeState::duplicate;
      }
    }
    if (state == EdgeState::done && is_ancestor(child, last.node)) state = EdgeState::back;
  }
  block.set(last.slot, state, child);
  if (state == EdgeState::done) {
    add_parent(child, last.node, last.slot);
    raise_rank(child, parent.rank + 1);
    const std::uint32_t visits = block.visits(last.slot);
    const Node& below = nodes_[child];
    parent.done_visits += visits;
    parent.weighted_sum += std::int64_t{visits} * below.value;
    if (below.best > parent.best) {
      parent.best = below.best;
      parent.best_raised = true;
    }
    if (exhausted(child)) {
      retire_edge(last.node, last.slot);
    } else {
      block.value[last.slot] = below.value;
    }
  } else {
    retire_edge(last.node, last.slot);
  }
  settle(path);
  return state;
}

void StateGraph::abandon(const Path& path) {
  constexpr std::uint32_t kOneInFlight = 1U << EdgeBlock::kInFlightShift;
  for (const EdgeRef& step : path) {
    Node& node = nodes_[step.node];
    const EdgeBlock block = block_of(node);
    --node.attempts;
    --block.attempts[step.slot];
    block.packed[step.slot] -= kOneInFlight;
  }
  const EdgeRef last = path.back();
  Node& node = nodes_[last.node];
  const EdgeBlock block = block_of(node);
  assert(block.state(last.slot) == EdgeState::in_flight);
  block.set(last.slot, EdgeState::untried, kNoNode);
  block.value[last.slot] = kUntriedValue;
  --node.issued;
  node.tried_prior -= prior_sum_units(block.packed[last.slot] & EdgeBlock::kPriorMask);
}

EdgeBlock StateGraph::edges(NodeId node) const {
  return block_of(nodes_[node]);
}

EdgeBlock StateGraph::block_of(const Node& node) const {
  // Blocks are handed out for writing by member functions that may write.
  auto* words = const_cast<std::uint32_t*>(words_.data()) + node.block;
  const std::uint32_t stride = EdgeBlock::stride(node.edges);
  return {reinterpret_cast<std::int32_t*>(words), words + stride, words + std::size_t{2} * stride,
          words + std::size_t{3} * stride};
}

std::uint64_t StateGraph::visits(NodeId node) const {
  const EdgeBlock block = edges(node);
  std::uint64_t total = 1;
  for (std::uint32_t slot = 0; slot < nodes_[node].edges; ++slot)
    total += block.visits(slot);
  return total;
}

FixedScore StateGraph::backed_up_value(const Node& node) const {
  const double mean = static_cast<double>(node.score + node.weighted_sum) /
                      static_cast<double>(std::int64_t{1} + node.done_visits);
  const double value = (1.0 - max_share_) * mean + max_share_ * node.best;
  // floor(value + 0.5) for any sign, without a call.
  constexpr double kOffset = 1 << 30;
  return static_cast<FixedScore>(static_cast<std::int64_t>(value + (kOffset + 0.5)) -
                                 static_cast<std::int64_t>(kOffset));
}

// Recomputes the path's nodes from the bottom and every other ancestor whose value changes, each
// once and after all of its descendants.
void StateGraph::settle(const Path& path) {
  for (std::size_t depth = path.size(); depth-- > 0;) {
    const NodeId node = path[depth].node;
    if (!off_path_.empty()) settle_above(nodes_[node].rank);
    refresh(node);
  }
  if (!off_path_.empty()) settle_above(0);
}

// Recomputes waiting nodes of a higher rank than `rank`; for 0, all of them.
void StateGraph::settle_above(std::uint32_t rank) {
  constexpr int kRankShift = 32;
  while (!off_path_.empty() && (rank == 0 || off_path_.front() >> kRankShift > rank)) {
    const auto node = static_cast<NodeId>(off_path_.front());
    std::pop_heap(off_path_.begin(), off_path_.end());
    off_path_.pop_back();
    refresh(node);
  }
}

void StateGraph::refresh(NodeId id) {
  Node& node = nodes_[id];
  node.pending = false;
  const FixedScore before = node.value;
  const FixedScore after = backed_up_value(node);
  if (after == before && !node.best_raised) return;
  node.value = after;
  node.best_raised = false;
  const bool selectable = !exhausted(id);
  for_each_parent(node, [&](NodeId parent_id, std::uint32_t slot) {
    Node& parent = nodes_[parent_id];
    const EdgeBlock block = block_of(parent);
    parent.weighted_sum += std::int64_t{block.visits(slot)} * (std::int64_t{after} - before);
    if (selectable) block.value[slot] = after;
    if (node.best > parent.best) {
      parent.best = node.best;
      parent.best_raised = true;
    }
    if (!parent.pending) {
      parent.pending = true;
      off_path_.push_back((std::uint64_t{parent.rank} << 32) | parent_id);
      std::push_heap(off_path_.begin(), off_path_.end());
    }
  });
}

// Takes an edge out of selection for good; a node that loses its last one is exhausted, and so on
// up.
void StateGraph::retire_edge(NodeId first_node, std::uint32_t first_slot) {
  std::vector<EdgeRef> waiting = {{first_node, first_slot}};
  while (!waiting.empty()) {
    const EdgeRef edge = waiting.back();
    waiting.pop_back();
    Node& node = nodes_[edge.node];
    block_of(node).value[edge.slot] = kUnselectable;
    if (--node.live > 0) continue;
    for_each_parent(node, [&](NodeId parent, std::uint32_t slot) {
      waiting.push_back({parent, slot});
    });
  }
}

// Ranks bound the search: an ancestor of a node has a lower rank than the node.
bool StateGraph::is_ancestor(NodeId candidate, NodeId of) const {
  const std::uint32_t limit = nodes_[candidate].rank;
  if (limit >= nodes_[of].rank) return candidate == of;
  std::vector<NodeId> waiting = {of};
  std::unordered_map<NodeId, bool> seen;
  bool found = false;
  while (!waiting.empty() && !found) {
    const NodeId node = waiting.back();
    waiting.pop_back();
    for_each_parent(nodes_[node], [&](NodeId parent, std::uint32_t) {
      if (parent == candidate) found = true;
      if (nodes_[parent].rank > limit && seen.emplace(parent, true).second) {
        waiting.push_back(parent);
      }
    });
  }
  return found;
}

void StateGraph::raise_rank(NodeId first, std::uint32_t first_rank) {
  if (nodes_[first].rank >= first_rank) return;
  nodes_[first].rank = first_rank;
  if (nodes_[first].issued == 0) return;
  std::vector<NodeId> waiting = {first};
  while (!waiting.empty()) {
    const Node& node = nodes_[waiting.back()];
    waiting.pop_back();
    const EdgeBlock block = block_of(node);
    for (std::uint32_t slot = 0; slot < node.edges; ++slot) {
      if (block.state(slot) != EdgeState::done) continue;
      Node& child = nodes_[block.child(slot)];
      if (child.rank > node.rank) continue;
      child.rank = node.rank + 1;
      waiting.push_back(block.child(slot));
    }
  }
}

void StateGraph::add_parent(NodeId child, NodeId parent, std::uint32_t slot) {
  Node& node = nodes_[child];
  if (node.parent == kNoNode) {
    node.parent = parent;
    node.parent_slot = static_cast<std::uint16_t>(slot);
    return;
  }
  in_links_.push_back({parent, slot, node.more_parents});
  node.more_parents = static_cast<std::uint32_t>(in_links_.size());
}

void StateGraph::reserve(std::size_t nodes, std::size_t edges) {
  nodes_.reserve(nodes);
  identities_.reserve(nodes);
  words_.reserve(edges * EdgeBlock::kWordsPerEdge);
  table_.reserve(nodes, identities_);
}

std::size_t StateGraph::used_bytes() const {
  return nodes_.size() * sizeof(Node) + identities_.size() * sizeof(Hash128) +
         words_.size() * sizeof(std::uint32_t) + in_links_.size() * sizeof(InLink) +
         table_.allocated_bytes();
}

std::size_t StateGraph::allocated_bytes() const {
  return nodes_.capacity() * sizeof(Node) + identities_.capacity() * sizeof(Hash128) +
         words_.capacity() * sizeof(std::uint32_t) + in_links_.capacity() * sizeof(InLink) +
         table_.allocated_bytes();
}

}  // namespace regraph
