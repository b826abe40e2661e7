#include "search/selection.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

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

// Scores are not negative; this is below them all, and stays so whatever is added.
constexpr float kUnselectableScore = -std::numeric_limits<float>::infinity();

// The larger and the smaller of each lane. Compilers make three instructions of a vector's `?:`.
inline Floats larger(Floats left, Floats right) {
#if defined(__SSE__)
  return __builtin_ia32_maxps(left, right);
#else
  return left > right ? left : right;
#endif
}
inline Floats smaller(Floats left, Floats right) {
#if defined(__SSE__)
  return __builtin_ia32_minps(left, right);
#else
  return left < right ? left : right;
#endif
}

// S of four edges; kUnselectableScore for what cannot be chosen.
inline Floats scores_of(const EdgeGroup& group, const Selector::Scale& scale, float exploration) {
  const auto value = load(group.value);
  const auto tries = load(group.attempts) + 1;
  const auto prior_bits = (load(group.packed) & EdgeGroup::kPriorMask) << kPriorShift;
  const auto prior = std::bit_cast<Floats>(prior_bits + static_cast<std::int32_t>(kPriorBase));
  Floats quality = __builtin_convertvector(value, Floats) * scale.factor - scale.offset;
  quality = smaller(larger(quality, Floats{}), Floats{} + 1.0F);
  const Floats total = quality + exploration * prior / __builtin_convertvector(tries, Floats);
  constexpr auto kPenalty = std::bit_cast<std::int32_t>(kUnselectableScore);
  return total + std::bit_cast<Floats>((value == kUnselectable) & kPenalty);
}

// The first lane whose mask is set; one is.
inline std::uint32_t first_set_lane(Integers mask) {
#if defined(__SSE__)
  const auto lanes = static_cast<unsigned>(__builtin_ia32_movmskps(std::bit_cast<Floats>(mask)));
  return static_cast<std::uint32_t>(
      __builtin_ctz(lanes));  // countr_zero would ask whether there is none
#else
  using Halves = std::int16_t __attribute__((vector_size(8)));
  const auto lanes = std::bit_cast<std::uint64_t>(__builtin_convertvector(mask, Halves));
  return static_cast<std::uint32_t>(std::countr_zero(lanes)) / 16;
#endif
}

// Takes edges that lead to a node of `blocked` out of the choice. Rare, and kept out of the way.
[[gnu::noinline]] Floats exclude(std::span<const NodeId> blocked, const EdgeGroup& group,
                                 Floats scores) {
  for (std::uint32_t lane = 0; lane < EdgeGroup::kLanes; ++lane) {
    const bool leads_there = group.state(lane) == EdgeState::done &&
                             std::ranges::find(blocked, group.child(lane)) != blocked.end();
    if (leads_there) scores[lane] = kUnselectableScore;
  }
  return scores;
}

struct Best {
  float score = kUnselectableScore;
  std::uint32_t place = 0;
};

// The highest lane, in all lanes.
inline Floats splat_highest(Floats scores) {
  const Floats pairs = larger(scores, __builtin_shufflevector(scores, scores, 2, 3, 0, 1));
  return larger(pairs, __builtin_shufflevector(pairs, pairs, 1, 0, 3, 2));
}

// The highest score of a group and its first lane.
inline Best best_lane(Floats scores) {
  const Floats highest = splat_highest(scores);
  return {highest[0], first_set_lane(scores == highest)};
}

float clamp_to_unit(float value) {
  value = value > 0.0F ? value : 0.0F;
  return value < 1.0F ? value : 1.0F;
}

Best best_of_groups(Floats first, std::span<const EdgeGroup> groups, const Selector::Scale& scale,
                    float exploration, std::span<const NodeId> blocked) {
  Floats best_score = first;
  Integers best_place = {0, 1, 2, 3};
  Integers place = best_place + static_cast<std::int32_t>(EdgeGroup::kLanes);
  for (const EdgeGroup& group : groups) {
    Floats score = scores_of(group, scale, exploration);
    if (!blocked.empty()) [[unlikely]]
      score = exclude(blocked, group, score);
    const Integers better = score > best_score;
    best_score = larger(score, best_score);
    best_place = better ? place : best_place;
    place += static_cast<std::int32_t>(EdgeGroup::kLanes);
  }
  // Of equal scores the lowest place; as floats, which have a minimum, places are exact.
  const Floats highest = splat_highest(best_score);
  const Floats places = best_score == highest ? __builtin_convertvector(best_place, Floats)
                                              : Floats{} + static_cast<float>(kMaxEdges);
  return {highest[0], static_cast<std::uint32_t>(-splat_highest(-places)[0])};
}

}  // namespace

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
    low = std::max(to_score(graph.lowest_score()), to_score(graph.score(kRootNode)) - kDeepestLoss);
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
  scale.widening = config_.widening_factor > 0.0;
  scale.fixed_first_play = config_.first_play_value.has_value();
  scale.first_play = static_cast<float>(config_.first_play_value.value_or(0.0));
  return scale;
}

inline float Selector::untried_score(const Node& node, const Scale& scale, float visits,
                                     float root_of_visits) const {
  constexpr float kClosed = -1.0F;
  if (scale.widening) {
    const double power = config_.widening_exponent == 0.5
                             ? static_cast<double>(root_of_visits)
                             : std::pow(visits, config_.widening_exponent);
    if (static_cast<double>(node.issued) >= config_.widening_factor * power) return kClosed;
  }
  float quality = scale.first_play;
  if (!scale.fixed_first_play) {
    const float own = clamp_to_unit(static_cast<float>(node.value) * scale.factor - scale.offset);
    const float tried = static_cast<float>(node.tried_prior) * kPriorSumUnit;
    quality =
        std::max(0.0F, own - static_cast<float>(config_.first_play_reduction) * std::sqrt(tried));
  }
  return quality + scale.exploration * root_of_visits * unpack_prior(node.next_prior);
}

inline std::uint32_t Selector::best_edge(const StateGraph& graph, NodeId id,
                                         const Scale& scale) const {
  const Node& node = graph.node(id);
  const float visits = 1.0F + static_cast<float>(static_cast<std::int32_t>(node.attempts));
  const float root_of_visits = std::sqrt(visits);
  const float exploration = scale.exploration * root_of_visits;

  Floats first = scores_of(node.first_edges, scale, exploration);
  if (!blocked_.empty()) [[unlikely]]
    first = exclude(blocked_, node.first_edges, first);
  Best best;
  if (node.issued <= EdgeGroup::kLanes) {  // most nodes
    best = best_lane(first);
  } else {
    best = best_of_groups(first, graph.more_groups(id), scale, exploration, blocked_);
  }
  if (node.next_slot != kNoSlot) {
    // The guard is lifted when it leaves nothing to choose.
    const float untried = untried_score(node, scale, visits, root_of_visits);
    if (best.score < 0.0F || untried > best.score) return kNextEdge;
  }
  return best.score < 0.0F ? kNone : best.place;
}

Selector::Descent Selector::descend(const StateGraph& graph, double budget_fraction, Path& path,
                                    NodeId& at) {
  const Scale scale = scale_for(graph, budget_fraction);
  blocked_.clear();
  NodeId here = at;
  Descent end = Descent::unopened;
  while (graph.node(here).open) {
    // The edge taken last is most often taken again. Following it before the scores are known lets
    // the processor work on several nodes at a time.
    // Each node's address lies in the one before: known ahead, several are fetched at a time.
    graph.prefetch(graph.node(here).ahead);
    const std::uint32_t guess = graph.node(here).recent_place;
    const NodeId guessed = graph.child({here, guess});
    const std::uint32_t place = best_edge(graph, here, scale);
    if (place == kNone) {
      if (path.empty()) {
        end = Descent::blocked;
        break;
      }
      blocked_.push_back(here);
      here = path.back().node;
      path.pop_back();
      continue;
    }
    path.push_back({here, place});
    if (place == kNextEdge) {
      end = Descent::edge;
      break;
    }
    here = place == guess ? guessed : graph.child({here, place});
  }
  at = here;
  return end;
}

}  // namespace regraph
