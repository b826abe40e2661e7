// Storage of the state graph: what a node and a block of edges look like in memory.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <vector>

namespace regraph {

using NodeId = std::uint32_t;
inline constexpr NodeId kRootNode = 0;
inline constexpr NodeId kMaxNodes = (1U << 28) - 1;  // a link has 28 bits for its child
inline constexpr NodeId kNoNode = kMaxNodes;

// One edge: its node and its place among the node's edges.
struct EdgeRef {
  NodeId node = kNoNode;
  std::uint32_t slot = 0;
  bool operator==(const EdgeRef&) const = default;
};
// Edges from the root to the one a search chose, in order.
using Path = std::vector<EdgeRef>;

enum class EdgeState : std::uint8_t {
  closed,     // a further variant whose predecessor was not issued yet
  untried,    // may be issued
  in_flight,  // issued, result outstanding
  done,       // leads to a measured child
  failed,     // refused, or its result was not correct
  duplicate,  // leads where another edge of the same node leads already
  back,       // leads to an ancestor: counted, never followed, not backed up
};

enum class NodeState : std::uint8_t { in_flight, measured, failed, alias };

// Scores are log-speedups in fixed point. One unit, 2^-16 = 0.0015 % of a time, is far below what
// any timing resolves. Integers make weighted sums exact, so sums kept up to date by differences
// equal sums made from scratch, whatever the order of events; and a change too small to reach the
// next unit ends its way up the graph.
using FixedScore = std::int32_t;
inline constexpr int kScoreFractionBits = 16;
inline constexpr double kScoreUnit = 1.0 / (1 << kScoreFractionBits);
inline constexpr double kScoreLimit = 1024.0;  // no kernel is e^1024 times faster

[[nodiscard]] inline FixedScore to_fixed(double score) {
  const double limited = std::fmin(std::fmax(score, -kScoreLimit), kScoreLimit);
  return static_cast<FixedScore>(std::lround(limited / kScoreUnit));
}
[[nodiscard]] constexpr double to_score(FixedScore fixed) {
  return fixed * kScoreUnit;
}

// Special entries among an edge block's cached child values.
inline constexpr FixedScore kUnselectable = std::numeric_limits<FixedScore>::min();
inline constexpr FixedScore kUntriedValue = kUnselectable + 1;

// Priors are packed in 16 bits as a short floating-point number: 4 bits of exponent and 12 of
// mantissa cover [2^-16, 1) with a relative error of 2^-13.
inline constexpr std::uint32_t kPriorBase = 0x37800000;  // the float 2^-16
inline constexpr int kPriorShift = 11;  // mantissa bits of a float that are dropped

[[nodiscard]] constexpr float unpack_prior(std::uint32_t packed) {
  return std::bit_cast<float>(kPriorBase + (packed << kPriorShift));
}
[[nodiscard]] constexpr std::uint32_t pack_prior(double prior) {
  constexpr std::uint32_t kLargest = 0xFFFF;
  const float limited = static_cast<float>(prior);
  if (!(limited > unpack_prior(0))) return 0;
  if (limited >= unpack_prior(kLargest)) return kLargest;
  constexpr std::uint32_t kHalf = 1U << (kPriorShift - 1);
  const std::uint32_t packed =
      (std::bit_cast<std::uint32_t>(limited) - kPriorBase + kHalf) >> kPriorShift;
  return packed < kLargest ? packed : kLargest;
}

// Sums of priors are integers too, for the same reason as scores.
inline constexpr float kPriorSumUnit = 1.0F / (1 << 28);
[[nodiscard]] constexpr std::uint32_t prior_sum_units(std::uint32_t packed) {
  return static_cast<std::uint32_t>(unpack_prior(packed) / kPriorSumUnit);
}

// A state. Hot: one cache line.
struct Node {
  std::int64_t weighted_sum = 0;   // sum over DONE edges of N(e) * Q(child)
  FixedScore score = 0;            // u, its own measured log-speedup
  FixedScore best = 0;             // V, the best score here or below
  FixedScore value = 0;            // Q
  std::uint32_t done_visits = 0;   // sum over DONE edges of N(e)
  std::uint32_t attempts = 0;      // sum over all edges of N(e) + O(e)
  std::uint32_t block = 0;         // first word of its edges
  std::uint32_t tried_prior = 0;   // sum of P over issued edges, in kPriorSumUnit
  NodeId parent = kNoNode;         // source of the first DONE edge that leads here
  std::uint32_t more_parents = 0;  // further ones: index + 1 of an InLink, 0 for none
  std::uint32_t rank = 0;          // above that of every parent
  std::uint16_t edges = 0;
  std::uint16_t live = 0;    // edges that can still yield work, now or later
  std::uint16_t issued = 0;  // edges neither closed nor untried
  std::uint16_t parent_slot = 0;
  NodeState state = NodeState::in_flight;
  bool open = false;         // its edges are known
  bool pending = false;      // its value is about to be recomputed
  bool best_raised = false;  // V grew since its value was last computed
};
static_assert(sizeof(Node) == 64, "a node fills one cache line");

// A further parent of a node with several.
struct InLink {
  NodeId parent = kNoNode;
  std::uint32_t slot = 0;
  std::uint32_t next = 0;  // index + 1, 0 at the end
};
static_assert(sizeof(InLink) == 12);

// The edges of one node: four arrays of `stride` words each, one after the other, so that a
// selection reads whole cache lines and the compiler can handle several edges at once. 16 bytes an
// edge.
struct EdgeBlock {
  static constexpr std::uint32_t kLanes = 4;  // arrays are padded to a multiple, with unselectables
  static constexpr std::uint32_t kWordsPerEdge = 4;
  static constexpr std::uint32_t kChildMask = kMaxNodes;
  static constexpr int kStateShift = 28;
  static constexpr std::uint32_t kNextVariantBit = 1U << 31;  // the next slot is its next variant
  static constexpr std::uint32_t kPriorMask = 0xFFFF;
  static constexpr int kInFlightShift = 16;

  std::int32_t* value;      // Q(child) of a selectable DONE edge, kUntriedValue or kUnselectable
  std::uint32_t* attempts;  // N(e) + O(e)
  std::uint32_t* link;      // child, state and kNextVariantBit
  std::uint32_t* packed;    // prior in the low half, O(e) in the high half

  [[nodiscard]] static constexpr std::uint32_t stride(std::uint32_t edges) {
    return (edges + kLanes - 1) / kLanes * kLanes;
  }
  [[nodiscard]] EdgeState state(std::uint32_t slot) const {
    return static_cast<EdgeState>((link[slot] & ~kNextVariantBit) >> kStateShift);
  }
  [[nodiscard]] NodeId child(std::uint32_t slot) const { return link[slot] & kChildMask; }
  [[nodiscard]] bool has_next_variant(std::uint32_t slot) const {
    return (link[slot] & kNextVariantBit) != 0;
  }
  [[nodiscard]] std::uint32_t in_flight(std::uint32_t slot) const {
    return packed[slot] >> kInFlightShift;
  }
  [[nodiscard]] std::uint32_t visits(std::uint32_t slot) const {
    return attempts[slot] - in_flight(slot);
  }
  [[nodiscard]] float prior(std::uint32_t slot) const {
    return unpack_prior(packed[slot] & kPriorMask);
  }
  void set(std::uint32_t slot, EdgeState state, NodeId child) const {
    link[slot] = (link[slot] & kNextVariantBit) |
                 (static_cast<std::uint32_t>(state) << kStateShift) | (child & kChildMask);
  }
};

// Puts arrays on cache-line borders, which std::vector's usual allocator does not.
template <typename T>
struct CacheLineAllocator {
  using value_type = T;
  static constexpr std::align_val_t kAlignment{64};
  CacheLineAllocator() = default;
  template <typename U>
  CacheLineAllocator(const CacheLineAllocator<U>&) {}  // NOLINT: required conversion
  [[nodiscard]] T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new(count * sizeof(T), kAlignment));
  }
  void deallocate(T* memory, std::size_t) { ::operator delete(memory, kAlignment); }
  bool operator==(const CacheLineAllocator&) const { return true; }
};
template <typename T>
using CacheLineVector = std::vector<T, CacheLineAllocator<T>>;

}  // namespace regraph
