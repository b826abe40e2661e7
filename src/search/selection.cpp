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
static_assert(sizeof(Integers) == EdgeBlock::kLanes * sizeof(std::int32_t));

template <typename Vector>
Vector load(const void* memory) {
  Vector vector;
  std::memcpy(&vector, memory, sizeof(vector));
  return vector;
}
void store(void* memory, const Integers& vector) {
  std::memcpy(memory, &vector, sizeof(vector));
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
  std::int32_t* scores = scores_.data();
  const std::int32_t* values = block.value;
  const std::uint32_t* attempts = block.attempts;
  const std::uint32_t* packed = block.packed;
  const float factor = scale.factor;
  const float offset = scale.offset;
  // Four edges at once. Scores are not negative, and the bits of such floats are ordered like
  // integers.
  Integers best_lanes = splat(-1);
  for (std::uint32_t slot = 0; slot < stride; slot += EdgeBlock::kLanes) {
    const auto value = load<Integers>(values + slot);
    const auto tries = load<Integers>(attempts + slot) + 1;
    const auto prior_bits = (load<Integers>(packed + slot) & EdgeBlock::kPriorMask) << kPriorShift;
    Floats quality = __builtin_convertvector(value, Floats) * factor - offset;
    quality = quality > 0.0F ? quality : Floats{};
    quality = quality < 1.0F ? quality : Floats{} + 1.0F;
    quality = value == kUntriedValue ? Floats{} + untried_value : quality;
    const auto prior = std::bit_cast<Floats>(prior_bits + static_cast<std::int32_t>(kPriorBase));
    const Floats score = quality + exploration * prior / __builtin_convertvector(tries, Floats);
    const auto bits = value == kUnselectable ? splat(-1) : std::bit_cast<Integers>(score);
    store(scores + slot, bits);
    best_lanes = bits > best_lanes ? bits : best_lanes;
  }
  if (!blocked_.empty()) {
    for (std::uint32_t slot = 0; slot < edges; ++slot) {
      if (block.state(slot) == EdgeState::done &&
          std::ranges::find(blocked_, block.child(slot)) != blocked_.end()) {
        scores[slot] = -1;
      }
    }
  }
  std::int32_t best = -1;
  if (blocked_.empty()) {
    for (std::uint32_t lane = 0; lane < EdgeBlock::kLanes; ++lane) {
      best = std::max(best, best_lanes[lane]);
    }
  } else {
    for (std::uint32_t slot = 0; slot < edges; ++slot)
      best = std::max(best, scores[slot]);
  }
  if (best < 0) return kNoSlot;
  std::uint32_t slot = 0;
  while (std::bit_cast<std::int32_t>(scores[slot]) != best)
    ++slot;
  return slot;
}

}  // namespace regraph
