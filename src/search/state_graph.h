// The state graph: every kernel state the search has seen and the steps between them.
//
// Terminology
//   node      a state: one canonical source and launch plan. Has a score u once measured.
//   edge      one step, with parameters and variant, applied to a node. Has a prior P.
//   N(e)      completed visits of an edge: searches that chose it and came back. Visits of edges,
//             not of nodes: a child that other parents made popular is not explored from here.
//   O(e)      visits under way. N + O is called attempts.
//   V(n)      best score at n or below.  Q(n)  its backed-up value.
//   rank      longest known distance from the root; every DONE edge raises it.
//
//                 root u=0                   Two orders of the same steps meet again: the edge
//                /        \                  is linked, nothing is compiled or run.
//       swap  DONE         DONE  unroll
//              /             \               Edges to an ancestor are BACK, a second edge of one
//          n1 u=1.8       n2 u=0.1           parent to one child is DUPLICATE, so the DONE edges
//       unroll  \          /  swap           form a directed acyclic graph at all times.
//              DONE      DONE
//                 \      /                   UNTRIED -> IN_FLIGHT -> DONE, FAILED, DUPLICATE
//                  n3 u=1.9                                         or BACK
//
// Backup, over the DONE edges of n:
//   M(n) = (u(n) + sum N(e) Q(child)) / (1 + sum N(e)),   V(n) = max(u(n), max V(child)),
//   Q(n) = (1 - lambda) M(n) + lambda V(n), rounded to a FixedScore.
// After each completed path all ancestors hold exactly what this recursion gives: sums are updated
// by differences in integers, children before parents by rank, and an ancestor whose rounded value
// did not change is where the way up ends.
//
// Memory
//   nodes_       128 bytes each, a pair of cache lines: the node and the first four of its edges
//   groups_      four further edges each, in runs of 1, 3, 7, .. that a node outgrows and leaves
//   proposals_   a word for each edge to be, written once when a node is opened
//   in_links_    parents but the first
//   table_       from identities to nodes
// What looks like trouble taken for its own sake is what a descent waits for. Without it, medians
// of three runs in turn (search_bench, 200000 simulations, lambda 50; two processors of a shared
// machine, 540 k simulations/s): hints of nodes further on 395 k, guesses at the next edge 452 k,
// four edges scored at once 428 k, priors and links packed 455 k and 199 instead of 148 bytes,
// backup in integers 346 k, a table of one's own 372 k and 183 bytes.
//
// Not thread-safe: one thread owns a graph. Nothing here draws random numbers or depends on timing.
#pragma once

#include "base/hash.h"
#include "base/result.h"
#include "search/state_graph_types.h"
#include "search/transposition_table.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace regraph {

// One proposal at a state: its prior and how many variants of it may be tried one after the other.
struct EdgeSeed {
  double prior = 0.0;
  int variants = 1;
  std::uint32_t step = 0;  // equal for proposals of one step; not for the graph, but for policies
};

class StateGraph {
 public:
  // `max_share` is lambda; a further variant's prior is `variant_decay` times the one before.
  StateGraph(double max_share, double variant_decay)
      : mean_weight_(std::ldexp(1.0 - max_share, kWeightBits)),
        best_weight_(std::llround(std::ldexp(max_share, kShareBits))),
        variant_decay_(variant_decay) {}

  // Adds a node in state in_flight. Its identity must not be in the graph.
  NodeId add_node(const Hash128& identity);
  // Returns the node with this identity, alias nodes resolved, or kNoNode.
  [[nodiscard]] NodeId find(const Hash128& identity) const;
  // Gives an in_flight node its score (log-speedup).
  void set_measured(NodeId node, double score);
  // Marks an in_flight node as not correct.
  void set_failed(NodeId node);
  // Marks an in_flight node as the same as `target`, which find then returns instead.
  void set_alias(NodeId node, NodeId target);
  // Gives a measured node its edges, in the order of `seeds`, variants of a seed next to each
  // other. A node without edges is exhausted. At most 65534 edges; the rest is ignored.
  void open(NodeId node, std::span<const EdgeSeed> seeds);

  // Starts a visit. All edges but the last are DONE; the last has the place kNextEdge and stands
  // for its node's UNTRIED edge of the highest prior (then the lowest slot), of which there must be
  // one. It becomes IN_FLIGHT, gets its place, which is written to `path`, and its slot is
  // returned. With `slot` it is that UNTRIED edge instead.
  std::uint32_t begin(Path& path, std::uint32_t slot = kNoSlot);
  // Ends a visit whose last edge failed.
  void finish_failed(const Path& path);
  // Ends a visit whose last edge turned out to lead to `child`, which is measured. Returns what the
  // edge became: done, duplicate or back.
  EdgeState finish(const Path& path, NodeId child);
  // Gives a measured child a further parent, by a DONE edge that nobody chose: it counts one visit,
  // has the lowest prior, and stands for no proposal. Returns false, and does nothing, where that
  // edge would lead to an ancestor or beside another one, and below a parent that is exhausted.
  bool adopt(NodeId parent, NodeId child);
  // Takes a visit back as if it had not begun; its last edge is abandoned.
  void abandon(const Path& path);

  // Whether nothing below the node can ever yield work again.
  [[nodiscard]] bool exhausted(NodeId node) const {
    return nodes_[node].open && nodes_[node].live == 0;
  }
  [[nodiscard]] std::size_t node_count() const { return nodes_.size(); }
  [[nodiscard]] const Node& node(NodeId node) const { return nodes_[node]; }
  [[nodiscard]] const Hash128& identity(NodeId node) const { return identities_[node]; }
  // u(n), of a measured node.
  [[nodiscard]] FixedScore score(NodeId node) const { return scores_[node]; }
  // The node's issued edges beyond Node::first_edges, kLanes to a group; those beyond node.issued
  // are unselectable. Valid until the next begin().
  [[nodiscard]] std::span<const EdgeGroup> more_groups(NodeId node) const {
    return {groups_.data() + nodes_[node].groups, more_group_count(nodes_[node].issued)};
  }
  [[nodiscard]] EdgeState edge_state(EdgeRef edge) const {
    return group_of(edge).state(lane_of(edge.place));
  }
  // Has the processor fetch a node that will be looked at soon. Of no other effect, whatever the
  // number.
  void prefetch(NodeId node) const {
    // As a number: a pointer may not be as far outside of an array as a hint's node may be.
    const auto first = reinterpret_cast<std::uintptr_t>(nodes_.data()) + sizeof(Node) * node;
    // NOLINTBEGIN(performance-no-int-to-ptr): nothing is read through them
    __builtin_prefetch(reinterpret_cast<const void*>(first), 1);
    __builtin_prefetch(reinterpret_cast<const void*>(first + offsetof(Node, first_edges)), 1);
    // NOLINTEND(performance-no-int-to-ptr)
  }
  // The same for an identity that find() will be asked for.
  void prefetch(const Hash128& identity) const { table_.prefetch(identity); }
  // Where a DONE, DUPLICATE or BACK edge leads.
  [[nodiscard]] NodeId child(EdgeRef edge) const {
    return group_of(edge).child(lane_of(edge.place));
  }
  // N(e).
  [[nodiscard]] std::uint32_t edge_visits(EdgeRef edge) const {
    return group_of(edge).visits(lane_of(edge.place));
  }
  // Proposed edges of an open node, variants counted, and whether one of them is UNTRIED.
  [[nodiscard]] std::uint32_t slot_count(NodeId node) const {
    return proposals_[nodes_[node].proposals];
  }
  [[nodiscard]] bool untried(NodeId node, std::uint32_t slot) const {
    return (proposals_[nodes_[node].proposals + 1 + slot] & ProposalWord::kUntried) != 0;
  }
  // Highest and lowest score of any measured node.
  [[nodiscard]] FixedScore highest_score() const { return highest_score_; }
  [[nodiscard]] FixedScore lowest_score() const { return lowest_score_; }
  // N(n) = 1 + sum of N(e): visits that ended at or passed through the node.
  [[nodiscard]] std::uint64_t visits(NodeId node) const;

  // Recomputes everything that is kept incrementally from the edges alone and compares. `in_flight`
  // is the sum of the lengths of all begun paths. Error (internal): the first difference found.
  [[nodiscard]] Status verify_invariants(std::uint64_t in_flight) const;

  // Makes room ahead of time.
  void reserve(std::size_t nodes, std::size_t edges);
  // Heap memory held, in bytes; what is in use of it, and what is reserved.
  [[nodiscard]] std::size_t used_bytes() const;
  [[nodiscard]] std::size_t allocated_bytes() const;

 private:
  [[nodiscard]] static std::uint32_t lane_of(std::uint32_t place) {
    return place % EdgeGroup::kLanes;
  }
  // Groups that `issued` edges occupy beyond the first: 0, 1, 3, 7, ...
  [[nodiscard]] static std::uint32_t more_group_count(std::uint32_t issued) {
    if (issued <= EdgeGroup::kLanes) return 0;
    return std::bit_ceil((issued + EdgeGroup::kLanes - 1) / EdgeGroup::kLanes) - 1;
  }
  // The group of a node's edge; const as node and groups are.
  template <typename OneNode, typename Group>
  [[nodiscard]] static Group& group_at(OneNode& node, Group* groups, std::uint32_t place) {
    if (place < EdgeGroup::kLanes) return node.first_edges;
    return groups[node.groups + place / EdgeGroup::kLanes - 1];
  }
  [[nodiscard]] const EdgeGroup& group_of(EdgeRef edge) const {
    return group_at(nodes_[edge.node], groups_.data(), edge.place);
  }
  [[nodiscard]] EdgeGroup& group_of(EdgeRef edge) {
    return group_at(nodes_[edge.node], groups_.data(), edge.place);
  }
  std::uint32_t allocate_groups(std::uint32_t count);
  void free_groups(std::uint32_t first, std::uint32_t count);
  std::uint32_t issue(NodeId node, std::uint32_t& slot);
  std::uint32_t add_place(NodeId node);
  [[nodiscard]] bool leads_to(NodeId node, NodeId child) const;
  void join(EdgeRef edge, NodeId child);
  void find_next(Node& node) const;
  [[nodiscard]] FixedScore backed_up_value(const Node& node) const;
  // Calls visit(edge) for every DONE edge that leads to the node.
  template <typename Visit>
  void for_each_parent(const Node& node, Visit visit) const {
    if (node.parent == kNoNode) return;
    visit(EdgeRef{node.parent, node.parent_place});
    for (std::uint32_t link = node.more_parents; link != 0; link = in_links_[link - 1].next) {
      visit(EdgeRef{in_links_[link - 1].parent, in_links_[link - 1].place});
    }
  }
  void settle(const Path& path);
  void settle_from(std::uint32_t rank);
  bool recompute(Node& node) const;
  static std::int64_t take_over(Node& parent, EdgeGroup& group, std::uint32_t lane,
                                const Node& child, FixedScore before);
  void pass_up(const Node& node, FixedScore before, EdgeRef told);
  void retire_edge(EdgeRef edge);
  [[nodiscard]] bool is_ancestor(NodeId candidate, NodeId of) const;
  void raise_rank(NodeId node, std::uint32_t rank);
  void add_parent(NodeId child, EdgeRef edge);

  // Backup in fixed point, see backed_up_value.
  static constexpr int kWeightBits = 62;
  static constexpr int kShareBits = 24;
  double mean_weight_;        // 1 - lambda, in 2^-kWeightBits
  std::int64_t best_weight_;  // lambda, in 2^-kShareBits
  double variant_decay_;
  std::vector<Node> nodes_;
  std::vector<Hash128> identities_;  // by node
  std::vector<FixedScore> scores_;   // by node
  std::vector<EdgeGroup> groups_;
  std::array<std::uint32_t, 16>
      free_groups_{};  // by log2 of their number + 1: first + 1, chained by link
  std::vector<std::uint32_t> proposals_;
  std::vector<InLink> in_links_;
  TranspositionTable table_;
  std::unordered_map<NodeId, NodeId> aliases_;
  FixedScore highest_score_ = kUnselectable;
  FixedScore lowest_score_ = std::numeric_limits<FixedScore>::max();
  // Ancestors to recompute, those of a rank chained; the chain's start is by rank, index + 1.
  struct Waiting {
    NodeId node = kNoNode;
    std::uint32_t next = 0;
  };
  std::vector<Waiting> waiting_;
  std::vector<std::uint32_t> last_waiting_ = {0};
  std::size_t settled_ = 0;        // of them
  std::uint32_t waiting_end_ = 0;  // above the ranks that have any; 0 when all are settled
};

}  // namespace regraph
