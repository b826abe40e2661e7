#include "search/graph_searcher.h"

namespace regraph {

namespace {

class GreedyPolicy final : public EdgePolicy {
 public:
  [[nodiscard]] std::unique_ptr<EdgePolicy> clone() const override {
    return std::make_unique<GreedyPolicy>(*this);
  }

  bool choose(const StateGraph& graph, double, Choice& choice) override {
    NodeId best = kNoNode;
    FixedScore best_score = kUnselectable;
    for (NodeId id = 0; id < graph.node_count(); ++id) {
      const Node& node = graph.node(id);
      const bool untried = node.open && node.next_slot != kNoSlot;
      if (!untried || graph.score(id) <= best_score) continue;
      best = id;
      best_score = graph.score(id);
    }
    if (best == kNoNode) return false;
    choice.path = {{best, kNextEdge}};
    return true;
  }
};

}  // namespace

std::unique_ptr<EdgePolicy> make_greedy_policy() {
  return std::make_unique<GreedyPolicy>();
}

}  // namespace regraph
