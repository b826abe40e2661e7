#include "search/graph_searcher.h"
#include "search/selection.h"

namespace regraph {

namespace {

class PuctPolicy final : public EdgePolicy {
 public:
  explicit PuctPolicy(const SelectionConfig& config) : selector_(config) {}

  [[nodiscard]] std::unique_ptr<EdgePolicy> clone() const override {
    return std::make_unique<PuctPolicy>(*this);
  }

  bool choose(const StateGraph& graph, double budget_fraction, Choice& choice) override {
    NodeId at = kRootNode;
    // Measured nodes are opened at once, so a descent never meets an unopened one.
    return selector_.descend(graph, budget_fraction, choice.path, at) == Selector::Descent::edge;
  }

 private:
  Selector selector_;
};

}  // namespace

std::unique_ptr<EdgePolicy> make_puct_policy(const SelectionConfig& config) {
  return std::make_unique<PuctPolicy>(config);
}

}  // namespace regraph
