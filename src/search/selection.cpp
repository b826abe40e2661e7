#include "search/selection.h"

#include <algorithm>
#include <cmath>

namespace regraph {

namespace {

// Scores are never negative; this marks edges that cannot be chosen.
constexpr float kNotSelectable = -1.0F;

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
    const std::uint32_t slot = best_slot(graph, at, scale);
    if (slot == kNoSlot) {
      if (path.empty()) return Descent::blocked;
      blocked_.push_back(at);
      at = path.back().node;
      path.pop_back();
      continue;
    }
    path.push_back({at, slot});
    const EdgeBlock block = graph.edges(at);
    if (block.value[slot] == kUntriedValue) return Descent::edge;
    at = block.child(slot);
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

std::uint32_t Selector::best_slot(const StateGraph& graph, NodeId id, const Scale& scale) {
  const Node& node = graph.node(id);
  const EdgeBlock block = graph.edges(id);
  const float visits = 1.0F + static_cast<float>(node.attempts);
  const float root_of_visits = std::sqrt(visits);
  const float exploration = scale.exploration * root_of_visits;

  float untried_value = 0.0F;
  if (config_.first_play_value) {
    untried_value = static_cast<float>(*config_.first_play_value);
  } else {
    const float own = clamp_to_unit(static_cast<float>(node.value) * scale.factor - scale.offset);
    const float tried = static_cast<float>(node.tried_prior) * kPriorSumUnit;
    untried_value =
        std::max(0.0F, own - static_cast<float>(config_.first_play_reduction) * std::sqrt(tried));
  }
  // The guard is lifted when it leaves nothing to choose.
  if (config_.widening_factor > 0.0) {
    const double power = config_.widening_exponent == 0.5
                             ? static_cast<double>(root_of_visits)
                             : std::pow(visits, config_.widening_exponent);
    if (static_cast<double>(node.issued) >= config_.widening_factor * power) {
      // Low enough that no exploration term makes the score positive again.
      constexpr float kClosed = -1e30F;
      const std::uint32_t slot = best_slot_scored(block, node.edges, scale, exploration, kClosed);
      if (slot != kNoSlot) return slot;
    }
  }
  return best_slot_scored(block, node.edges, scale, exploration, untried_value);
}

std::uint32_t Selector::best_slot_scored(const EdgeBlock& block, std::uint32_t edges,
                                         const Scale& scale, float exploration,
                                         float untried_value) {
  const std::uint32_t stride = EdgeBlock::stride(edges);
  if (scores_.size() < stride) scores_.resize(stride);
  float* scores = scores_.data();
  const std::int32_t* values = block.value;
  const std::uint32_t* attempts = block.attempts;
  const std::uint32_t* packed = block.packed;
  const float factor = scale.factor;
  const float offset = scale.offset;
  // Without branches, so that it is compiled to vector instructions. Scores are not negative, and
  // the bits of such floats are ordered like integers.
  for (std::uint32_t slot = 0; slot < stride; ++slot) {
    const std::int32_t value = values[slot];
    float quality = clamp_to_unit(static_cast<float>(value) * factor - offset);
    quality = value == kUntriedValue ? untried_value : quality;
    const float prior = unpack_prior(packed[slot] & EdgeBlock::kPriorMask);
    const float tries = 1.0F + static_cast<float>(static_cast<std::int32_t>(attempts[slot]));
    const float score = quality + exploration * prior / tries;
    scores[slot] = value == kUnselectable ? kNotSelectable : score;
  }
  if (!blocked_.empty()) {
    for (std::uint32_t slot = 0; slot < edges; ++slot) {
      if (block.state(slot) == EdgeState::done &&
          std::ranges::find(blocked_, block.child(slot)) != blocked_.end()) {
        scores[slot] = kNotSelectable;
      }
    }
  }
  std::int32_t best = -1;
  for (std::uint32_t slot = 0; slot < stride; ++slot) {
    const auto bits = std::bit_cast<std::int32_t>(scores[slot]);
    best = bits > best ? bits : best;
  }
  if (best < 0) return kNoSlot;
  std::uint32_t slot = 0;
  while (std::bit_cast<std::int32_t>(scores[slot]) != best)
    ++slot;
  return slot;
}

}  // namespace regraph
