// What can still be tried at each node, by step: for policies that choose steps, not edges.
#pragma once

#include "search/state_graph.h"

#include <span>
#include <vector>

namespace regraph {

class OpenSteps {
 public:
  // A way on from a node.
  struct Option {
    std::uint32_t step = 0;        // EdgeSeed::step
    std::uint32_t slot = kNoSlot;  // of an UNTRIED edge; kNoSlot for a DONE one
    EdgeRef edge;                  // the DONE one
    double prior = 0.0;
  };

  // The node's edges, variants of a seed next to each other.
  void opened(NodeId node, std::span<const EdgeSeed> seeds);
  // The UNTRIED edge `slot` is about to be issued.
  void issued(NodeId node, std::uint32_t slot) { slots_[node].push_back(slot); }

  // The node has got an issued edge beside those it was opened with.
  void adopted(NodeId node, std::uint32_t step);

  // The UNTRIED edges of a node in the order proposed, then the DONE ones that may still lead to
  // something new in the order issued.
  [[nodiscard]] std::vector<Option> options(const StateGraph& graph, NodeId node) const;

  // The step of an issued edge.
  [[nodiscard]] std::uint32_t step_of(EdgeRef edge) const {
    return labels_[edge.node][slots_[edge.node][edge.place]].step;
  }

 private:
  struct Label {
    std::uint32_t step = 0;
    double prior = 0.0;
  };
  std::vector<std::vector<Label>> labels_;         // by node and slot
  std::vector<std::vector<std::uint32_t>> slots_;  // by node and place
};

// Whether any node has an UNTRIED edge.
[[nodiscard]] bool anything_untried(const StateGraph& graph);

}  // namespace regraph
