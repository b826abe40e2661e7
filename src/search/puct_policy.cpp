#include "search/graph_searcher.h"
#include "search/selection.h"

namespace regraph {

namespace {

class PuctPolicy final : public EdgePolicy {
 public:
  explicit PuctPolicy(const SelectionConfig& config)
      : selector_(config),
        greedy_(config.greedy_every > 0 ? make_greedy_policy() : nullptr),
        greedy_every_(config.greedy_every) {}
  PuctPolicy(const PuctPolicy& other)
      : selector_(other.selector_),
        greedy_(other.greedy_ != nullptr ? other.greedy_->clone() : nullptr),
        greedy_every_(other.greedy_every_),
        chosen_(other.chosen_) {}
  PuctPolicy& operator=(const PuctPolicy&) = delete;

  [[nodiscard]] std::unique_ptr<EdgePolicy> clone() const override {
    return std::make_unique<PuctPolicy>(*this);
  }

  bool choose(const StateGraph& graph, double budget_fraction, Choice& choice) override {
    const bool greedily = greedy_ != nullptr && chosen_ % greedy_every_ == greedy_every_ - 1;
    const bool found = greedily ? greedy_->choose(graph, budget_fraction, choice)
                                : descend(graph, budget_fraction, choice);
    chosen_ += found ? 1 : 0;
    return found;
  }

 private:
  [[nodiscard]] bool descend(const StateGraph& graph, double budget_fraction, Choice& choice) {
    NodeId at = kRootNode;
    // Measured nodes are opened at once, so a descent never meets an unopened one.
    return selector_.descend(graph, budget_fraction, choice.path, at) == Selector::Descent::edge;
  }

  Selector selector_;
  std::unique_ptr<EdgePolicy> greedy_;  // null: never asked
  int greedy_every_;
  int chosen_ = 0;
};

}  // namespace

std::unique_ptr<EdgePolicy> make_puct_policy(const SelectionConfig& config) {
  return std::make_unique<PuctPolicy>(config);
}

}  // namespace regraph
