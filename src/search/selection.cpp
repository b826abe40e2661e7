#include "search/selection.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace regraph {

namespace {

// GCC's and Clang's portable vectors; 16 bytes exist on every 64-bit machine.
using Floats = float __attribute__((vector_size(16)));
using Integers = std::int32_t __attribute__((vector_size(16)));
static_assert(sizeof(Integers) == EdgeGroup::kLanes * sizeof(std::int32_t));

Integers load(const void* memory) {
  Integers vector;
  std::memcpy(&vector, memory, sizeof(vector));
  return vector;
}
Integers splat(std::int32_t value) {
  return Integers{} + value;
}

float clamp_to_unit(float value) {
  value = value > 0.0F ? value : 0.0F;
  return value < 1.0F ? value : 1.0F;
}

}  // namespace

Selector::Descent Selector::descend(const StateGraph& graph, double budget_fraction, Path& path,
                                    NodeId& at) {
  const Scale scale = scale_for(graph, budget_fraction);
  blocked_.clear();
  for (;;) {
    if (!graph.node(at).open) return Descent::unopened;
    const std::uint32_t place = best_edge(graph, at, scale);
    if (place == kNone) {
      if (path.empty()) return Descent::blocked;
      blocked_.push_back(at);
      at = path.back().node;
      path.pop_back();
      continue;
    }
    path.push_back({at, place});
    if (place == kNextEdge) return Descent::edge;
    at = graph.child({at, place});
  }
}

Selector::Scale Selector::scale_for(const StateGraph& graph, double budget_fraction) const {
  double low = 0.0;
  double high = 0.0;
  if (config_.value_range) {
    low = config_.value_range->first;
    high = config_.value_range->second;
  } else {
    constexpr double kDeepestLoss = 0.693147180559945;      // ln 2: twice as slow is bad enough
    constexpr double kNarrowestRange = 0.0487901641694320;  // ln 1.05: do not magnify noise
    high = to_score(graph.highest_score());
    low = std::max(to_score(graph.lowest_score()),
                   to_score(graph.node(kRootNode).score) - kDeepestLoss);
    high = low + std::max(high - low, kNarrowestRange);
  }
  const double fraction = std::clamp(budget_fraction, 0.0, 1.0);
  const double exploration =
      config_.exploration_last +
      (config_.exploration_first - config_.exploration_last) * (1.0 - fraction);
  Scale scale;
  scale.factor = static_cast<float>(kScoreUnit / (high - low));
  scale.offset = static_cast<float>(low / (high - low));
  scale.exploration = static_cast<float>(exploration);
  return scale;
}

float Selector::untried_score(const Node& node, const Scale& scale, float visits,
                              float root_of_visits) const {
  constexpr float kClosed = -1.0F;
  if (config_.widening_factor > 0.0) {
    const double power = config_.widening_exponent == 0.5
                             ? static_cast<double>(root_of_visits)
                             : std::pow(visits, config_.widening_exponent);
    if (static_cast<double>(node.issued) >= config_.widening_factor * power) return kClosed;
  }
  float quality = 0.0F;
  if (config_.first_play_value) {
    quality = static_cast<float>(*config_.first_play_value);
  } else {
    const float own = clamp_to_unit(static_cast<float>(node.value) * scale.factor - scale.offset);
    const float tried = static_cast<float>(node.tried_prior) * kPriorSumUnit;
    quality =
        std::max(0.0F, own - static_cast<float>(config_.first_play_reduction) * std::sqrt(tried));
  }
  return quality + scale.exploration * root_of_visits * unpack_prior(node.next_prior);
}

std::uint32_t Selector::best_edge(const StateGraph& graph, NodeId id, const Scale& scale) const {
  const Node& node = graph.node(id);
  const float visits = 1.0F + static_cast<float>(static_cast<std::int32_t>(node.attempts));
  const float root_of_visits = std::sqrt(visits);
  const float exploration = scale.exploration * root_of_visits;

  // Four edges at once. Scores are not negative, and the bits of such floats are ordered like
  // integers; -1 marks what cannot be chosen.
  Integers best_score = splat(-1);
  Integers best_place = splat(0);
  Integers place = {0, 1, 2, 3};
  for (const EdgeGroup& group : graph.groups(id)) {
    const auto value = load(group.value);
    const auto tries = load(group.attempts) + 1;
    const auto prior_bits = (load(group.packed) & EdgeGroup::kPriorMask) << kPriorShift;
    const auto prior = std::bit_cast<Floats>(prior_bits + static_cast<std::int32_t>(kPriorBase));
    Floats quality = __builtin_convertvector(value, Floats) * scale.factor - scale.offset;
    quality = quality > 0.0F ? quality : Floats{};
    quality = quality < 1.0F ? quality : Floats{} + 1.0F;
    const Floats total = quality + exploration * prior / __builtin_convertvector(tries, Floats);
    Integers score = value == kUnselectable ? splat(-1) : std::bit_cast<Integers>(total);
    if (!blocked_.empty()) {
      for (std::uint32_t lane = 0; lane < EdgeGroup::kLanes; ++lane) {
        const bool leads_there = group.state(lane) == EdgeState::done &&
                                 std::ranges::find(blocked_, group.child(lane)) != blocked_.end();
        if (leads_there) score[lane] = -1;
      }
    }
    const Integers better = score > best_score;
    best_score = better ? score : best_score;
    best_place = better ? place : best_place;
    place += static_cast<std::int32_t>(EdgeGroup::kLanes);
  }
  std::int32_t top_score = -1;
  std::int32_t top_place = 0;
  for (std::uint32_t lane = 0; lane < EdgeGroup::kLanes; ++lane) {
    const bool better = best_score[lane] > top_score ||
                        (best_score[lane] == top_score && best_place[lane] < top_place);
    top_score = better ? best_score[lane] : top_score;
    top_place = better ? best_place[lane] : top_place;
  }
  if (node.next_slot != kNoSlot) {
    // The guard is lifted when it leaves nothing to choose.
    const float untried = untried_score(node, scale, visits, root_of_visits);
    if (top_score < 0 || untried > std::bit_cast<float>(top_score)) return kNextEdge;
  }
  return top_score < 0 ? kNone : static_cast<std::uint32_t>(top_place);
}

}  // namespace regraph
