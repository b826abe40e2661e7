// Selection: which edge to try next (PUCT on edge visits, for a single maximising player).
//
//   S(e)  = q(e) + c(f) P(e) sqrt(N(n) + O(n)) / (1 + N(e) + O(e)),      N(n) = 1 + sum of N(e)
//   q(e)  = norm(Q(child)) for a DONE edge,
//           max(0, norm(Q(n)) - r sqrt(sum of P over issued edges)) for an UNTRIED one
//   c(f)  = c1 + (c0 - c1)(1 - f),      f = fraction of the budget used
//   norm(x) = clamp((x - lo) / max(hi - lo, ln 1.05), 0, 1),
//             hi = best score seen, lo = max(worst score seen, root's score - ln 2)
//
// The floor of lo keeps one terrible state from flattening all differences. Visits under way count
// as visits but never lower a value (no virtual loss). Ties go to the edge proposed first, lower
// variant.
//
// UNTRIED edges are offered only while issued(n) < k (N(n) + O(n))^a, unless nothing else is left.
// A node where nothing is selectable now (all in flight) is blocked for this descent, and the next
// best edge of its parent is taken.
//
// Predictor + UCT: Silver et al. 2017 (AlphaGo Zero); counts of visits under way: Liu et al. 2020
// (WU-UCT); first-play reduction and edge visits: KataGo's notes on graph search.
#pragma once

#include "search/config.h"
#include "search/state_graph.h"

#include <optional>
#include <vector>

namespace regraph {

class Selector {
 public:
  enum class Descent {
    edge,      // the path ends with an UNTRIED edge
    unopened,  // the path ends at a node that was not opened yet
    blocked,   // nothing is selectable anywhere
  };

  // What a descent computes once.
  struct Scale {
    float offset = 0.0F;  // norm(x) = clamp(x * factor - offset, 0, 1)
    float factor = 1.0F;
    float exploration = 1.0F;  // c(f)
    bool widening = false;     // UNTRIED edges are offered as visits allow
    bool fixed_first_play = false;
    float first_play = 0.0F;  // q of an UNTRIED edge, if it is fixed
  };

  explicit Selector(const SelectionConfig& config) : config_(config) {}

  // Extends `path`, which leads to `at`, until it ends with an edge to try; start with an empty
  // path at the root. After `unopened`, `at` is the node: open it and call again. `budget_fraction`
  // is f.
  [[nodiscard]] Descent descend(const StateGraph& graph, double budget_fraction, Path& path,
                                NodeId& at);

 private:
  static constexpr std::uint32_t kNone = kNextEdge - 1;

  [[nodiscard]] Scale scale_for(const StateGraph& graph, double budget_fraction) const;
  // Returns a place, kNextEdge for the UNTRIED edge that comes next, or kNone.
  [[nodiscard]] std::uint32_t best_edge(const StateGraph& graph, NodeId node,
                                        const Scale& scale) const;
  // Score of the UNTRIED edge that comes next; negative when the guard keeps it closed.
  [[nodiscard]] float untried_score(const Node& node, const Scale& scale, float visits,
                                    float root_of_visits) const;

  SelectionConfig config_;
  std::vector<NodeId> blocked_;  // nodes given up in this descent
};

}  // namespace regraph
