// The rule published for ReGraphT (arXiv 2510.19873), as a baseline. Its statistics belong to
// steps, whatever code they were applied to: N(s), Q(s) of a step s, N(s,a), Q(s,a) of a step a
// after s.
//
//   selection  from the original, take the step with the highest Q(s) + sqrt(c ln N(s') / N(s)),
//              s' being the step before; steps never taken come first, the likeliest before the
//              others (the prior of the ReGraph). It ends with the first application that is new.
//   rollout    from there, argmax of Q(s,a) - lambda N(s,a), or with chance epsilon any step; at
//              most `rollout_steps` steps; a failed one ends it.
//   reward     speedup over the original if that is 1 or more, else speedup - 1; -1 for a failure
//   backup     the largest reward seen since the selection ended goes to N and Q (its mean) of the
//              steps selected, and to N and Q of all pairs of steps taken.
//
// What the paper leaves open: known results are walked over at no cost (it works with a model that
// answers anew each time); steps that can lead to nothing new are left out, or the search would
// not end; of a step's parameter settings the likeliest untried comes first, then the fastest.
#include "base/random.h"
#include "search/graph_searcher.h"
#include "search/open_steps.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <vector>

namespace regraph {

namespace {

constexpr std::uint64_t kRegraphtDraws = 0x2E67A;
constexpr std::uint32_t kInit = 0xFFFFFFFF;  // the "step" that made the original
constexpr double kFailure = -1.0;

// Moves over known results before anything untried will do.
constexpr int kMostMovesOfWalk = 256;

struct Statistic {
  double visits = 0.0;
  double value = 0.0;
  void add(double reward) {
    visits += 1.0;
    value += (reward - value) / visits;
  }
};

// One step with all ways to take it from a node.
struct Group {
  std::uint32_t step = 0;
  double prior = 0.0;
  OpenSteps::Option option;  // the way that would be taken
};

class ReGraphTPolicy final : public EdgePolicy {
 public:
  ReGraphTPolicy(const ReGraphTConfig& config, std::uint64_t seed) : config_(config), seed_(seed) {}

  [[nodiscard]] std::unique_ptr<EdgePolicy> clone() const override {
    return std::make_unique<ReGraphTPolicy>(*this);
  }

  void opened(NodeId node, std::span<const EdgeSeed> seeds) override { steps_.opened(node, seeds); }
  void adopted(NodeId node, std::uint32_t step) override { steps_.adopted(node, step); }

  bool choose(const StateGraph& graph, double, Choice& choice) override {
    for (Walk& walk : walks_)
      follow(graph, walk);
    // Changes nothing unless it will choose.
    if (!anything_untried(graph)) return false;
    const auto free = std::ranges::find(walks_, false, &Walk::waiting);
    Walk& walk = free != walks_.end() ? *free : walks_.emplace_back();
    for (int move = 0; move < kMostMovesOfWalk; ++move) {
      const std::vector<Group> groups = groups_at(graph, walk.at);
      if (groups.empty()) {
        finish(walk);
        continue;
      }
      const Group& group = walk.rolling ? roll(walk, groups) : select(walk, groups);
      take(walk, group.step);
      if (group.option.slot != kNoSlot) {
        issue(graph, walk, group.option.slot, choice);
        return true;
      }
      arrive(graph, walk, graph.child(group.option.edge));
    }
    finish(walk);
    while (graph.node(walk.at).next_slot == kNoSlot || !graph.node(walk.at).open)
      ++walk.at;
    issue(graph, walk, graph.node(walk.at).next_slot, choice);
    take(walk, steps_.step_of(walk.edge));
    return true;
  }

 private:
  struct Walk {
    NodeId at = kRootNode;
    std::uint32_t step = kInit;           // taken last
    std::vector<std::uint32_t> selected;  // steps until the first new application
    std::vector<std::pair<std::uint32_t, std::uint32_t>>
        pairs;  // all steps, each with the one before
    bool rolling = false;
    int steps_left = 0;
    double reward = -std::numeric_limits<double>::infinity();  // largest
    EdgeRef edge;                                              // whose result it waits for
    bool waiting = false;
  };

  // A new result: selection ends here, or the rollout goes on.
  void follow(const StateGraph& graph, Walk& walk) {
    if (!walk.waiting) return;
    const EdgeState state = graph.edge_state(walk.edge);
    if (state == EdgeState::in_flight) return;
    walk.waiting = false;
    const bool led =
        state == EdgeState::done || state == EdgeState::duplicate || state == EdgeState::back;
    if (!led) {
      walk.reward = std::max(walk.reward, kFailure);
      finish(walk);
      return;
    }
    const bool first = !walk.rolling;
    if (first) {
      walk.rolling = true;
      walk.steps_left = config_.rollout_steps + 1;
    }
    arrive(graph, walk, graph.child(walk.edge));
  }

  void arrive(const StateGraph& graph, Walk& walk, NodeId node) {
    walk.at = node;
    if (!walk.rolling) return;
    const double speedup = std::exp(to_score(graph.score(node)));
    walk.reward = std::max(walk.reward, speedup >= 1.0 ? speedup : speedup - 1.0);
    if (--walk.steps_left <= 0) finish(walk);
  }

  void take(Walk& walk, std::uint32_t step) {
    walk.pairs.emplace_back(walk.step, step);
    if (!walk.rolling) walk.selected.push_back(step);
    walk.step = step;
  }

  // Backs up and starts at the original again.
  void finish(Walk& walk) {
    if (std::isfinite(walk.reward)) {
      by_step_[kInit].add(walk.reward);
      for (const std::uint32_t step : walk.selected)
        by_step_[step].add(walk.reward);
      for (const auto& pair : walk.pairs)
        by_pair_[pair].add(walk.reward);
    }
    walk = Walk{};
  }

  std::vector<Group> groups_at(const StateGraph& graph, NodeId node) const {
    std::vector<Group> groups;
    const auto better = [&](const OpenSteps::Option& one, const OpenSteps::Option& other) {
      if (one.slot != kNoSlot || other.slot != kNoSlot) {
        return other.slot == kNoSlot || (one.slot != kNoSlot && one.prior > other.prior);
      }
      return graph.score(graph.child(one.edge)) > graph.score(graph.child(other.edge));
    };
    for (const OpenSteps::Option& option : steps_.options(graph, node)) {
      const auto known = std::ranges::find(groups, option.step, &Group::step);
      if (known == groups.end()) {
        groups.push_back({option.step, option.prior, option});
        continue;
      }
      known->prior += option.prior;
      if (better(option, known->option)) known->option = option;
    }
    // The likeliest first, so that it wins ties.
    std::ranges::stable_sort(groups, std::greater<>{}, &Group::prior);
    return groups;
  }

  template <typename Score>
  static const Group& highest(const std::vector<Group>& groups, Score score) {
    return *std::ranges::max_element(groups, {}, score);  // the first of equals
  }

  const Group& select(const Walk& walk, const std::vector<Group>& groups) {
    const double before = std::max(by_step_[walk.step].visits, 1.0);
    return highest(groups, [&](const Group& group) {
      const Statistic& statistic = by_step_[group.step];
      if (statistic.visits == 0.0) return std::numeric_limits<double>::infinity();
      return statistic.value + std::sqrt(config_.exploration * std::log(before) / statistic.visits);
    });
  }

  const Group& roll(const Walk& walk, const std::vector<Group>& groups) {
    if (to_unit_interval(draw()) < config_.epsilon) return groups[draw() % groups.size()];
    return highest(groups, [&](const Group& group) {
      const Statistic& statistic = by_pair_[{walk.step, group.step}];
      return statistic.value - config_.penalty * statistic.visits;
    });
  }

  void issue(const StateGraph& graph, Walk& walk, std::uint32_t slot, Choice& choice) {
    walk.waiting = true;
    walk.edge = {walk.at, graph.node(walk.at).issued};
    steps_.issued(walk.at, slot);
    choice.path = {{walk.at, kNextEdge}};
    choice.slot = slot;
  }

  [[nodiscard]] std::uint64_t draw() { return random_bits(seed_, kRegraphtDraws, draws_++); }

  ReGraphTConfig config_;
  std::uint64_t seed_;
  std::uint64_t draws_ = 0;
  OpenSteps steps_;
  std::vector<Walk> walks_;  // as many as tickets were ever under way at once
  std::map<std::uint32_t, Statistic> by_step_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Statistic> by_pair_;
};

}  // namespace

std::unique_ptr<EdgePolicy> make_regrapht_policy(const ReGraphTConfig& config, std::uint64_t seed) {
  return std::make_unique<ReGraphTPolicy>(config, seed);
}

}  // namespace regraph
