#include "base/random.h"
#include "search/graph_searcher.h"
#include "search/open_steps.h"

#include <algorithm>
#include <vector>

namespace regraph {

namespace {

constexpr std::uint64_t kRandomDraws = 0x7A1D0;

// A walk may come by many known states before it finds something to try. What is left may also be
// out of its reach, below states whose results are all under way; then anything untried will do.
constexpr int kMostMoves = 1000;

class RandomPolicy final : public EdgePolicy {
 public:
  RandomPolicy(double restart, std::uint64_t seed) : restart_(restart), seed_(seed) {}

  [[nodiscard]] std::unique_ptr<EdgePolicy> clone() const override {
    return std::make_unique<RandomPolicy>(*this);
  }

  void opened(NodeId node, std::span<const EdgeSeed> seeds) override { steps_.opened(node, seeds); }
  void adopted(NodeId node, std::uint32_t step) override { steps_.adopted(node, step); }

  bool choose(const StateGraph& graph, double, Choice& choice) override {
    for (Walk& walk : walks_)
      follow(graph, walk);
    // Draws no lots unless it will choose.
    if (!anything_untried(graph)) return false;
    const auto free = std::ranges::find(walks_, false, &Walk::waiting);
    Walk& walk = free != walks_.end() ? *free : walks_.emplace_back();
    for (int move = 0; move < kMostMoves; ++move) {
      if (to_unit_interval(draw()) < restart_) walk.at = kRootNode;
      const std::vector<OpenSteps::Option> options = steps_.options(graph, walk.at);
      if (options.empty()) {
        walk.at = kRootNode;
        continue;
      }
      const OpenSteps::Option& option = pick(options);
      if (option.slot == kNoSlot) {
        walk.at = graph.child(option.edge);
        continue;
      }
      issue(graph, walk, option.slot, choice);
      return true;
    }
    for (walk.at = kRootNode;
         graph.node(walk.at).next_slot == kNoSlot || !graph.node(walk.at).open;)
      ++walk.at;
    issue(graph, walk, graph.node(walk.at).next_slot, choice);
    return true;
  }

 private:
  struct Walk {
    NodeId at = kRootNode;
    EdgeRef edge;  // whose result it waits for
    bool waiting = false;
  };

  [[nodiscard]] std::uint64_t draw() { return random_bits(seed_, kRandomDraws, draws_++); }

  // To where its step led, once that is known.
  static void follow(const StateGraph& graph, Walk& walk) {
    if (!walk.waiting) return;
    const EdgeState state = graph.edge_state(walk.edge);
    if (state == EdgeState::in_flight) return;
    walk.waiting = false;
    const bool led =
        state == EdgeState::done || state == EdgeState::duplicate || state == EdgeState::back;
    if (led) walk.at = graph.child(walk.edge);
  }

  const OpenSteps::Option& pick(const std::vector<OpenSteps::Option>& options) {
    std::vector<std::uint32_t> steps;
    steps.reserve(options.size());
    for (const OpenSteps::Option& option : options)
      steps.push_back(option.step);
    std::ranges::sort(steps);
    const auto repeated = std::unique(steps.begin(), steps.end());
    steps.erase(repeated, steps.end());
    const std::uint32_t step = steps[draw() % steps.size()];
    const auto count = std::ranges::count(options, step, &OpenSteps::Option::step);
    auto left = static_cast<std::ptrdiff_t>(draw() % static_cast<std::uint64_t>(count));
    return *std::ranges::find_if(options, [&](const OpenSteps::Option& option) {
      return option.step == step && left-- == 0;
    });
  }

  void issue(const StateGraph& graph, Walk& walk, std::uint32_t slot, Choice& choice) {
    walk.waiting = true;
    walk.edge = {walk.at, graph.node(walk.at).issued};
    steps_.issued(walk.at, slot);
    choice.path = {{walk.at, kNextEdge}};
    choice.slot = slot;
  }

  double restart_;
  std::uint64_t seed_;
  std::uint64_t draws_ = 0;
  OpenSteps steps_;
  std::vector<Walk> walks_;  // as many as tickets were ever under way at once
};

}  // namespace

std::unique_ptr<EdgePolicy> make_random_policy(double restart, std::uint64_t seed) {
  return std::make_unique<RandomPolicy>(restart, seed);
}

}  // namespace regraph
