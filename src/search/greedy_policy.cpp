#include "search/graph_searcher.h"

namespace regraph {

namespace {

class GreedyPolicy final : public EdgePolicy {
 public:
  bool choose(const StateGraph& graph, double, Path& path) override {
    path.clear();
    EdgeRef best;
    FixedScore best_score = kUnselectable;
    float best_prior = 0.0F;
    for (NodeId id = 0; id < graph.node_count(); ++id) {
      const Node& node = graph.node(id);
      if (node.state != NodeState::measured || !node.open || node.live == 0) continue;
      if (node.score <= best_score) continue;
      const EdgeBlock block = graph.edges(id);
      best_prior = -1.0F;
      for (std::uint32_t slot = 0; slot < node.edges; ++slot) {
        if (block.state(slot) != EdgeState::untried || block.prior(slot) <= best_prior) continue;
        best_prior = block.prior(slot);
        best_score = node.score;
        best = {id, slot};
      }
    }
    if (best.node == kNoNode) return false;
    path.push_back(best);
    return true;
  }
};

}  // namespace

std::unique_ptr<EdgePolicy> make_greedy_policy() {
  return std::make_unique<GreedyPolicy>();
}

}  // namespace regraph
