#include "search/graph_searcher.h"

#include <algorithm>
#include <vector>

namespace regraph {

namespace {

class BeamPolicy final : public EdgePolicy {
 public:
  explicit BeamPolicy(int width) : width_(static_cast<std::size_t>(std::max(width, 1))) {}

  [[nodiscard]] std::unique_ptr<EdgePolicy> clone() const override {
    return std::make_unique<BeamPolicy>(*this);
  }

  bool choose(const StateGraph& graph, double, Choice& choice) override {
    if (kept_.empty()) keep({kRootNode});
    for (;;) {
      for (const NodeId node : level_) {
        if (graph.node(node).next_slot == kNoSlot) continue;
        choice.path = {{node, kNextEdge}};
        return true;
      }
      if (under_way(graph)) return false;
      if (!next_level(graph)) return false;
    }
  }

 private:
  void keep(std::vector<NodeId> nodes) {
    level_ = std::move(nodes);
    for (const NodeId node : level_) {
      if (kept_.size() <= node) kept_.resize(node + 1);
      kept_[node] = true;
    }
  }
  [[nodiscard]] bool fresh(const StateGraph& graph, NodeId node) const {
    return graph.node(node).open && (node >= kept_.size() || !kept_[node]);
  }
  [[nodiscard]] bool under_way(const StateGraph& graph) const {
    for (const NodeId node : level_) {
      for (std::uint32_t place = 0; place < graph.node(node).issued; ++place) {
        if (graph.edge_state({node, place}) == EdgeState::in_flight) return true;
      }
    }
    return false;
  }

  // Goes on to the best states below this level, else to the best that are left anywhere.
  bool next_level(const StateGraph& graph) {
    std::vector<NodeId> found;
    for (const NodeId node : level_) {
      for (std::uint32_t place = 0; place < graph.node(node).issued; ++place) {
        const EdgeRef edge{node, place};
        if (graph.edge_state(edge) != EdgeState::done) continue;
        const NodeId child = graph.child(edge);
        if (fresh(graph, child)) found.push_back(child);
      }
    }
    if (found.empty()) {
      for (NodeId node = 0; node < graph.node_count(); ++node) {
        if (fresh(graph, node)) found.push_back(node);
      }
    }
    std::ranges::sort(found);
    const auto repeated = std::ranges::unique(found);
    found.erase(repeated.begin(), repeated.end());
    std::ranges::stable_sort(found, std::greater<>{},
                             [&](NodeId node) { return graph.score(node); });
    if (found.size() > width_) found.resize(width_);
    if (found.empty()) return false;
    keep(std::move(found));
    return true;
  }

  std::size_t width_;
  std::vector<NodeId> level_;
  std::vector<bool> kept_;  // by node: was part of a level
};

}  // namespace

std::unique_ptr<EdgePolicy> make_beam_policy(int width) {
  return std::make_unique<BeamPolicy>(width);
}

}  // namespace regraph
