#include "search/state_graph.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace regraph {

NodeId StateGraph::add_node(const Hash128& identity) {
  assert(nodes_.size() < kMaxNodes && table_.find(identity, identities_) == table_.kAbsent);
  const auto node = static_cast<NodeId>(nodes_.size());
  nodes_.emplace_back();
  identities_.push_back(identity);
  scores_.push_back(0);
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
  const FixedScore fixed = to_fixed(score);
  scores_[node] = measured.best = measured.value = fixed;
  measured.weighted_sum = fixed;
  highest_score_ = std::max(highest_score_, fixed);
  lowest_score_ = std::min(lowest_score_, fixed);
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

void StateGraph::open(NodeId id, std::span<const EdgeSeed> seeds) {
  assert(nodes_[id].state == NodeState::measured && !nodes_[id].open);
  Node& node = nodes_[id];
  node.open = true;
  node.proposals = static_cast<std::uint32_t>(proposals_.size());
  std::size_t total = 0;
  for (const EdgeSeed& seed : seeds)
    total += static_cast<std::size_t>(std::max(seed.variants, 1));
  const auto count = static_cast<std::uint32_t>(std::min<std::size_t>(total, kMaxEdges));
  proposals_.resize(proposals_.size() + 1 + count);
  std::uint32_t* word = proposals_.data() + node.proposals;
  *word++ = count;
  std::uint32_t slot = 0;
  std::uint32_t next_slot = kNoSlot;
  std::uint32_t next_prior = 0;
  for (const EdgeSeed& seed : seeds) {
    if (slot == count) break;
    ++node.live;
    std::uint32_t packed = pack_prior(seed.prior);
    if (next_slot == kNoSlot || packed > next_prior) {
      next_slot = slot;
      next_prior = packed;
    }
    std::uint32_t variants =
        std::min(static_cast<std::uint32_t>(std::max(seed.variants, 1)), count - slot);
    slot += variants;
    std::uint32_t flags = ProposalWord::kUntried;
    double prior = seed.prior;
    while (--variants > 0) {
      *word++ = packed | flags | ProposalWord::kNextVariant;
      flags = 0;
      prior *= variant_decay_;
      packed = pack_prior(prior);
    }
    *word++ = packed | flags;
  }
  node.next_slot = static_cast<std::uint16_t>(next_slot);
  node.next_prior = static_cast<std::uint16_t>(next_prior);
  if (node.live == 0) {
    for_each_parent(node, [&](EdgeRef edge) { retire_edge(edge); });
  }
}

// Looks for the UNTRIED edge of the highest prior.
void StateGraph::find_next(Node& node) const {
  const std::uint32_t count = proposals_[node.proposals];
  const std::uint32_t* words = proposals_.data() + node.proposals + 1;
  node.next_slot = kNoSlot;
  node.next_prior = 0;
  for (std::uint32_t slot = 0; slot < count; ++slot) {
    if ((words[slot] & ProposalWord::kUntried) == 0) continue;
    const auto prior = static_cast<std::uint16_t>(words[slot] & ProposalWord::kPriorMask);
    if (node.next_slot != kNoSlot && prior <= node.next_prior) continue;
    node.next_slot = static_cast<std::uint16_t>(slot);
    node.next_prior = prior;
  }
}

std::uint32_t StateGraph::allocate_groups(std::uint32_t count) {
  std::uint32_t& free = free_groups_[static_cast<std::size_t>(std::countr_zero(count + 1))];
  std::uint32_t first = 0;
  if (free != 0) {
    first = free - 1;
    free = groups_[first].link[0];
  } else {
    first = static_cast<std::uint32_t>(groups_.size());
    groups_.resize(groups_.size() + count);
  }
  std::fill_n(groups_.begin() + first, count, EdgeGroup{});
  return first;
}

void StateGraph::free_groups(std::uint32_t first, std::uint32_t count) {
  std::uint32_t& free = free_groups_[static_cast<std::size_t>(std::countr_zero(count + 1))];
  groups_[first].link[0] = free;
  free = first + 1;
}

// Makes room for another issued edge; returns its place.
std::uint32_t StateGraph::add_place(NodeId id) {
  Node& node = nodes_[id];
  const std::uint32_t place = node.issued;
  const std::uint32_t had = more_group_count(place);
  const std::uint32_t needed = more_group_count(place + 1);
  if (needed > had) {
    const std::uint32_t moved = allocate_groups(needed);
    std::copy_n(groups_.begin() + node.groups, had, groups_.begin() + moved);
    if (had > 0) free_groups(node.groups, had);
    node.groups = moved;
  }
  ++node.issued;
  return place;
}

// Issues the node's next edge; returns its place.
std::uint32_t StateGraph::issue(NodeId id, std::uint32_t& slot) {
  assert(nodes_[id].open && nodes_[id].next_slot != kNoSlot);
  const std::uint32_t place = add_place(id);
  Node& node = nodes_[id];
  const bool in_turn = slot == kNoSlot;
  if (in_turn) slot = node.next_slot;
  std::uint32_t* word = &proposals_[node.proposals + 1 + slot];
  assert((*word & ProposalWord::kUntried) != 0);
  const std::uint32_t prior = *word & ProposalWord::kPriorMask;
  node.tried_prior += prior_sum_units(prior);
  EdgeGroup& group = group_of({id, place});
  group.packed[lane_of(place)] = prior;
  group.set(lane_of(place), EdgeState::in_flight, kNoNode);

  *word &= ~ProposalWord::kUntried;
  if ((*word & ProposalWord::kNextVariant) != 0) {
    word[1] |= ProposalWord::kUntried;
    ++node.live;
  }
  // Equal priors, proposed next to each other, need no search.
  const bool last = slot + 1 == proposals_[node.proposals];
  constexpr std::uint32_t kUntriedPrior = ProposalWord::kUntried | ProposalWord::kPriorMask;
  if (in_turn && !last && (word[1] & kUntriedPrior) == (ProposalWord::kUntried | node.next_prior)) {
    ++node.next_slot;
  } else {
    find_next(node);
  }
  return place;
}

std::uint32_t StateGraph::begin(Path& path, std::uint32_t slot) {
  constexpr std::size_t kStepsAhead = 4;  // about as many as are fetched while one is scored
  assert(path.back().place == kNextEdge);
  path.back().place = issue(path.back().node, slot);
  // What is written could be any of these, for all that a compiler knows: they are read once.
  Node* const nodes = nodes_.data();
  EdgeGroup* const groups = groups_.data();
  const EdgeRef* const edges = path.data();
  const std::size_t length = path.size();
  const auto pass = [&](EdgeRef edge) -> Node& {
    Node& node = nodes[edge.node];
    ++node.attempts;
    node.recent_place = static_cast<std::uint8_t>(std::min<std::uint32_t>(edge.place, 255));
    group_at(node, groups, edge.place).take_off(lane_of(edge.place));
    return node;
  };
  std::size_t depth = 0;
  for (; depth + kStepsAhead < length; ++depth)
    pass(edges[depth]).ahead = edges[depth + kStepsAhead].node;
  for (; depth < length; ++depth)
    pass(edges[depth]);
  return slot;
}

void StateGraph::finish_failed(const Path& path) {
  const EdgeRef last = path.back();
  assert(edge_state(last) == EdgeState::in_flight);
  EdgeGroup& group = group_of(last);
  group.land(lane_of(last.place));
  group.set(lane_of(last.place), EdgeState::failed, kNoNode);
  retire_edge(last);
  settle(path);
}

// Whether an issued edge of the node leads there already.
bool StateGraph::leads_to(NodeId node, NodeId child) const {
  for (std::uint32_t place = 0; place < nodes_[node].issued; ++place) {
    const EdgeRef edge{node, place};
    const EdgeState known = edge_state(edge);
    if ((known == EdgeState::done || known == EdgeState::back) && this->child(edge) == child)
      return true;
  }
  return false;
}

// Takes a DONE edge, with the visits it has, into its parent's sums. The edge counts as live.
void StateGraph::join(EdgeRef edge, NodeId child) {
  Node& parent = nodes_[edge.node];
  EdgeGroup& group = group_of(edge);
  const std::uint32_t lane = lane_of(edge.place);
  add_parent(child, edge);
  raise_rank(child, parent.rank + 1);
  const std::uint32_t visits = group.visits(lane);
  const Node& below = nodes_[child];
  parent.done_visits += visits;
  parent.weighted_sum += std::int64_t{visits} * below.value;
  if (below.best > parent.best) {
    parent.best = below.best;
    parent.best_raised = true;
  }
  if (exhausted(child)) {
    retire_edge(edge);
  } else {
    group.value[lane] = below.value;
  }
}

bool StateGraph::adopt(NodeId parent, NodeId child) {
  const Node& above = nodes_[parent];
  const bool possible = above.state == NodeState::measured && above.open && above.live > 0 &&
                        nodes_[child].state == NodeState::measured && child != kRootNode &&
                        above.issued < kMaxEdges && parent != child;
  if (!possible || leads_to(parent, child) || is_ancestor(child, parent)) return false;
  const EdgeRef edge{parent, add_place(parent)};
  Node& node = nodes_[parent];
  const std::uint32_t prior = pack_prior(0.0);
  node.tried_prior += prior_sum_units(prior);
  ++node.live;
  ++node.attempts;
  EdgeGroup& group = group_of(edge);
  group.packed[lane_of(edge.place)] = prior;
  group.attempts[lane_of(edge.place)] = 1;
  group.set(lane_of(edge.place), EdgeState::done, child);
  join(edge, child);
  settle({edge});
  return true;
}

EdgeState StateGraph::finish(const Path& path, NodeId child) {
  const EdgeRef last = path.back();
  assert(edge_state(last) == EdgeState::in_flight);
  assert(nodes_[child].state == NodeState::measured);

  EdgeState state = EdgeState::done;
  if (child == last.node) {
    state = EdgeState::back;
  } else if (nodes_[child].parent != kNoNode || child == kRootNode) {  // known before this edge
    if (leads_to(last.node, child)) state = EdgeState::duplicate;
    if (state == EdgeState::done && is_ancestor(child, last.node)) state = EdgeState::back;
  }
  EdgeGroup& group = group_of(last);
  const std::uint32_t lane = lane_of(last.place);
  group.land(lane);
  group.set(lane, state, child);
  if (state == EdgeState::done) {
    join(last, child);
  } else {
    retire_edge(last);
  }
  settle(path);
  return state;
}

void StateGraph::abandon(const Path& path) {
  for (const EdgeRef& edge : path) {
    EdgeGroup& group = group_of(edge);
    --nodes_[edge.node].attempts;
    --group.attempts[lane_of(edge.place)];
    group.land(lane_of(edge.place));
  }
  const EdgeRef last = path.back();
  assert(edge_state(last) == EdgeState::in_flight);
  group_of(last).set(lane_of(last.place), EdgeState::abandoned, kNoNode);
  retire_edge(last);
}

std::uint64_t StateGraph::visits(NodeId node) const {
  std::uint64_t total = 1;
  for (std::uint32_t place = 0; place < nodes_[node].issued; ++place) {
    total += edge_visits({node, place});
  }
  return total;
}

// Takes an edge out of selection for good; a node that loses its last one is exhausted, and so on
// up.
void StateGraph::retire_edge(EdgeRef first) {
  group_of(first).value[lane_of(first.place)] = kUnselectable;
  if (--nodes_[first.node].live > 0) return;
  std::vector<NodeId> spent = {first.node};
  while (!spent.empty()) {
    const NodeId node = spent.back();
    spent.pop_back();
    for_each_parent(nodes_[node], [&](EdgeRef edge) {
      group_of(edge).value[lane_of(edge.place)] = kUnselectable;
      if (--nodes_[edge.node].live == 0) spent.push_back(edge.node);
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
    for_each_parent(nodes_[node], [&](EdgeRef edge) {
      if (edge.node == candidate) found = true;
      if (nodes_[edge.node].rank > limit && seen.emplace(edge.node, true).second) {
        waiting.push_back(edge.node);
      }
    });
  }
  return found;
}

void StateGraph::raise_rank(NodeId first, std::uint32_t first_rank) {
  if (nodes_[first].rank >= first_rank) return;
  nodes_[first].rank = first_rank;
  std::uint32_t highest_rank = first_rank;
  if (last_waiting_.size() <= first_rank) last_waiting_.resize(first_rank + 1);
  if (nodes_[first].issued == 0) return;
  std::vector<NodeId> waiting = {first};
  while (!waiting.empty()) {
    const NodeId id = waiting.back();
    waiting.pop_back();
    for (std::uint32_t place = 0; place < nodes_[id].issued; ++place) {
      if (edge_state({id, place}) != EdgeState::done) continue;
      const NodeId below = child({id, place});
      if (nodes_[below].rank > nodes_[id].rank) continue;
      nodes_[below].rank = nodes_[id].rank + 1;
      highest_rank = std::max(highest_rank, nodes_[below].rank);
      waiting.push_back(below);
    }
  }
  if (last_waiting_.size() <= highest_rank) last_waiting_.resize(highest_rank + 1);
}

void StateGraph::add_parent(NodeId child, EdgeRef edge) {
  Node& node = nodes_[child];
  if (node.parent == kNoNode) {
    node.parent = edge.node;
    node.parent_place = static_cast<std::uint16_t>(edge.place);
    return;
  }
  in_links_.push_back({edge.node, edge.place, node.more_parents});
  node.more_parents = static_cast<std::uint32_t>(in_links_.size());
}

void StateGraph::reserve(std::size_t nodes, std::size_t edges) {
  nodes_.reserve(nodes);
  identities_.reserve(nodes);
  scores_.reserve(nodes);
  proposals_.reserve(edges);
  groups_.reserve(nodes / 4);
  table_.reserve(nodes, identities_);
}

std::size_t StateGraph::used_bytes() const {
  return nodes_.size() * sizeof(Node) + identities_.size() * sizeof(Hash128) +
         scores_.size() * sizeof(FixedScore) + proposals_.size() * sizeof(std::uint32_t) +
         groups_.size() * sizeof(EdgeGroup) + in_links_.size() * sizeof(InLink) +
         table_.allocated_bytes();
}

std::size_t StateGraph::allocated_bytes() const {
  return nodes_.capacity() * sizeof(Node) + identities_.capacity() * sizeof(Hash128) +
         scores_.capacity() * sizeof(FixedScore) + proposals_.capacity() * sizeof(std::uint32_t) +
         groups_.capacity() * sizeof(EdgeGroup) + in_links_.capacity() * sizeof(InLink) +
         table_.allocated_bytes();
}

}  // namespace regraph
