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
  using Links = std::set<std::pair<NodeId, std::uint32_t>>;
  std::map<NodeId, Links> parents;
  std::vector<EdgeRef> stack;
  if (!nodes_.empty()) {
    stack.push_back({kRootNode, 0});
    marks[kRootNode] = Mark::entered;
  }
  while (!stack.empty()) {
    EdgeRef& top = stack.back();
    const NodeId id = top.node;
    if (top.place == nodes_[id].issued) {
      marks[id] = Mark::left;
      order.push_back(id);
      stack.pop_back();
      continue;
    }
    const EdgeRef edge{id, top.place++};
    if (edge_state(edge) != EdgeState::done) continue;
    const NodeId child = this->child(edge);
    if (child >= nodes_.size()) return broken(id, "an edge leads nowhere");
    if (marks[child] == Mark::entered) return broken(child, "lies on a cycle");
    if (nodes_[child].rank <= nodes_[id].rank) return broken(child, "rank is not above a parent's");
    parents[child].emplace(id, edge.place);
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
    std::int64_t sum = scores_[id];
    std::int64_t done_visits = 0;
    std::uint64_t attempts = 0;
    std::uint64_t tried_prior = 0;
    std::uint32_t live = 0;
    std::set<NodeId> children;
    best[id] = scores_[id];
    for (std::uint32_t place = 0; place < node.issued; ++place) {
      const EdgeGroup& group = group_of({id, place});
      const std::uint32_t lane = lane_of(place);
      const EdgeState state = group.state(lane);
      attempts += group.attempts[lane];
      counted_in_flight += group.in_flight(lane);
      tried_prior += prior_sum_units(group.packed[lane] & EdgeGroup::kPriorMask);
      FixedScore cached = kUnselectable;
      if (state == EdgeState::in_flight) ++live;
      if (state == EdgeState::done) {
        const NodeId child = group.child(lane);
        if (!children.insert(child).second) return broken(id, "two DONE edges to one child");
        sum += std::int64_t{group.visits(lane)} * value[child];
        done_visits += group.visits(lane);
        best[id] = std::max(best[id], best[child]);
        if (!spent[child]) {
          cached = value[child];
          ++live;
        }
      }
      if (group.value[lane] != cached) return broken(id, "an edge caches a wrong value");
      const bool under_way = state != EdgeState::done && group.in_flight(lane) > 0;
      if ((state == EdgeState::in_flight) != under_way) {
        return broken(id, "visits under way on an edge that is not");
      }
    }
    for (std::uint32_t place = node.issued; place % EdgeGroup::kLanes != 0; ++place) {
      if (group_of({id, place}).value[lane_of(place)] != kUnselectable) {
        return broken(id, "an edge that was not issued can be selected");
      }
    }
    if (node.open) {
      std::uint32_t untried = 0;
      for (std::uint32_t slot = 0; slot < proposals_[node.proposals]; ++slot) {
        if ((proposals_[node.proposals + 1 + slot] & ProposalWord::kUntried) != 0) ++untried;
      }
      live += untried;
      Node searched = node;
      find_next(searched);
      if (searched.next_slot != node.next_slot || searched.next_prior != node.next_prior) {
        return broken(id, "the next edge is not the UNTRIED one of the highest prior");
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
    Links stored;
    for_each_parent(node, [&](EdgeRef edge) { stored.emplace(edge.node, edge.place); });
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
