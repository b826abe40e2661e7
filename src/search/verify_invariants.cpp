// The state graph against a from-scratch recomputation. Slow and simple on purpose.
#include "search/state_graph.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace regraph {

namespace {

std::string at(NodeId node, const char* what) {
  return "state graph: node " + std::to_string(node) + ": " + what;
}

}  // namespace

Status StateGraph::verify_invariants(std::uint64_t in_flight) const {
  const auto broken = [](NodeId node, const char* what) {
    return fail(ErrorCode::internal, at(node, what));
  };

  // A post-order over DONE edges from the root that meets each node once proves that the graph is
  // acyclic; `parents` collects who leads where.
  enum class Mark : std::uint8_t { unseen, entered, left };
  std::vector<Mark> marks(nodes_.size(), Mark::unseen);
  std::vector<NodeId> order;
  std::map<NodeId, std::set<std::pair<NodeId, std::uint32_t>>> parents;
  std::vector<EdgeRef> stack;
  if (!nodes_.empty()) {
    stack.push_back({kRootNode, 0});
    marks[kRootNode] = Mark::entered;
  }
  while (!stack.empty()) {
    EdgeRef& top = stack.back();
    const NodeId id = top.node;
    if (top.slot == nodes_[id].edges) {
      marks[id] = Mark::left;
      order.push_back(id);
      stack.pop_back();
      continue;
    }
    const std::uint32_t slot = top.slot++;
    const EdgeBlock block = edges(id);
    if (block.state(slot) != EdgeState::done) continue;
    const NodeId child = block.child(slot);
    if (child >= nodes_.size()) return broken(id, "an edge leads nowhere");
    if (marks[child] == Mark::entered) return broken(child, "lies on a cycle");
    if (nodes_[child].rank <= nodes_[id].rank) return broken(child, "rank is not above a parent's");
    parents[child].emplace(id, slot);
    if (marks[child] == Mark::unseen) {
      marks[child] = Mark::entered;
      stack.push_back({child, 0});
    }
  }

  std::vector<FixedScore> value(nodes_.size());
  std::vector<FixedScore> best(nodes_.size());
  std::vector<bool> spent(nodes_.size());
  std::uint64_t counted_in_flight = 0;
  for (const NodeId id : order) {  // children first
    const Node& node = nodes_[id];
    if (node.state != NodeState::measured) return broken(id, "is reachable but not measured");
    if (node.pending || node.best_raised) return broken(id, "was left unsettled");
    const EdgeBlock block = edges(id);
    std::int64_t sum = 0;
    std::int64_t done_visits = 0;
    std::uint64_t attempts = 0;
    std::uint64_t tried_prior = 0;
    std::uint32_t live = 0;
    std::uint32_t issued = 0;
    std::set<NodeId> children;
    best[id] = node.score;
    for (std::uint32_t slot = 0; slot < node.edges; ++slot) {
      const EdgeState state = block.state(slot);
      attempts += block.attempts[slot];
      counted_in_flight += block.in_flight(slot);
      FixedScore cached = kUnselectable;
      if (state != EdgeState::closed && state != EdgeState::untried) {
        ++issued;
        tried_prior += prior_sum_units(block.packed[slot] & EdgeBlock::kPriorMask);
      } else if (block.attempts[slot] != 0) {
        return broken(id, "an edge that was not issued has attempts");
      }
      if (state == EdgeState::untried) cached = kUntriedValue;
      if (state == EdgeState::done) {
        const NodeId child = block.child(slot);
        if (!children.insert(child).second) return broken(id, "two DONE edges to one child");
        sum += std::int64_t{block.visits(slot)} * value[child];
        done_visits += block.visits(slot);
        best[id] = std::max(best[id], best[child]);
        if (!spent[child]) cached = value[child];
      }
      if (state == EdgeState::untried || state == EdgeState::in_flight ||
          (state == EdgeState::done && !spent[block.child(slot)])) {
        ++live;
      }
      if (block.value[slot] != cached) return broken(id, "an edge caches a wrong value");
      if ((state == EdgeState::in_flight) !=
          (block.in_flight(slot) > 0 && state != EdgeState::done)) {
        return broken(id, "visits under way on an edge that is not");
      }
    }
    spent[id] = node.open && live == 0;
    Node recomputed = node;
    recomputed.weighted_sum = sum;
    recomputed.done_visits = static_cast<std::uint32_t>(done_visits);
    recomputed.best = best[id];
    value[id] = backed_up_value(recomputed);
    if (node.weighted_sum != sum) return broken(id, "sum of N * Q differs");
    if (node.done_visits != done_visits) return broken(id, "completed visits differ");
    if (node.best != best[id]) return broken(id, "V differs");
    if (node.value != value[id]) return broken(id, "Q differs");
    if (node.attempts != attempts) return broken(id, "attempts differ");
    if (node.tried_prior != tried_prior) return broken(id, "sum of issued priors differs");
    if (node.live != live) return broken(id, "count of live edges differs");
    if (node.issued != issued) return broken(id, "count of issued edges differs");
    std::set<std::pair<NodeId, std::uint32_t>> stored;
    for_each_parent(node, [&](NodeId parent, std::uint32_t slot) { stored.emplace(parent, slot); });
    if (stored != parents[id]) return broken(id, "parents differ");
  }
  if (counted_in_flight != in_flight) {
    return fail(ErrorCode::internal, "state graph: " + std::to_string(counted_in_flight) +
                                         " visits under way, " + std::to_string(in_flight) +
                                         " expected");
  }
  for (NodeId id = 0; id < nodes_.size(); ++id) {
    const bool reachable = marks[id] == Mark::left;
    const NodeState state = nodes_[id].state;
    if (reachable != (state == NodeState::measured))
      return broken(id, "measured but not reachable");
    const NodeId found = find(identities_[id]);
    if (state != NodeState::alias && found != id) return broken(id, "is not found by its identity");
    if (state == NodeState::alias && nodes_[found].state != NodeState::measured) {
      return broken(id, "is an alias of a node that is not measured");
    }
  }
  return {};
}

}  // namespace regraph
