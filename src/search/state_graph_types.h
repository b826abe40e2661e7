// Storage of the state graph: what a node and a block of edges look like in memory.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace regraph {

using NodeId = std::uint32_t;
inline constexpr NodeId kRootNode = 0;
inline constexpr NodeId kMaxNodes = (1U << 28) - 1;  // a link has 28 bits for its child
inline constexpr NodeId kNoNode = kMaxNodes;

// One edge: its node and its place in the order in which the node's edges were issued.
struct EdgeRef {
  NodeId node = kNoNode;
  std::uint32_t place = 0;
  bool operator==(const EdgeRef&) const = default;
};
// The place of the edge that a node would issue next.
inline constexpr std::uint32_t kNextEdge = 0xFFFFFFFF;
// Edges from the root, or from any other node, to the one a search chose, in order.
using Path = std::vector<EdgeRef>;

// Of an edge that was issued. Before that it is UNTRIED, or closed: a further variant of an edge
// that was not issued yet itself.
enum class EdgeState : std::uint8_t {
  in_flight,  // result outstanding
  done,       // leads to a measured child
  failed,     // refused, or its result was not correct
  duplicate,  // leads where another edge of the same node leads already
  back,       // leads to an ancestor: counted, never followed, not backed up
  abandoned,  // withdrawn: counts no visit and is not offered again
};

enum class NodeState : std::uint8_t { in_flight, measured, failed, alias };

// Scores are log-speedups in fixed point. One unit, 2^-11 = 0.05 % of a time, is a tenth of what
// careful timings repeat to. Integers make weighted sums exact, so sums kept up to date by
// differences equal sums made from scratch, whatever the order of events; and a change too small to
// reach the next unit ends its way up the graph, which keeps backing up to all ancestors cheap.
using FixedScore = std::int32_t;
inline constexpr int kScoreFractionBits = 11;
inline constexpr double kScoreUnit = 1.0 / (1 << kScoreFractionBits);
inline constexpr double kScoreLimit = 1024.0;  // no kernel is e^1024 times faster

[[nodiscard]] inline FixedScore to_fixed(double score) {
  const double limited = std::fmin(std::fmax(score, -kScoreLimit), kScoreLimit);
  return static_cast<FixedScore>(std::lround(limited / kScoreUnit));
}
[[nodiscard]] constexpr double to_score(FixedScore fixed) {
  return fixed * kScoreUnit;
}

// Stands for a child's value where an edge cannot be selected.
inline constexpr FixedScore kUnselectable = std::numeric_limits<FixedScore>::min();

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

// Four issued edges of one node, field by field, so that one cache line holds all there is to know
// about an edge and a selection handles four at a time.
struct alignas(64) EdgeGroup {
  static constexpr std::uint32_t kLanes = 4;
  static constexpr std::uint32_t kChildMask = kMaxNodes;
  static constexpr int kStateShift = 28;
  static constexpr std::uint32_t kPriorMask = 0xFFFF;
  static constexpr int kInFlightShift = 16;

  // Q(child) of a selectable DONE edge, else kUnselectable.
  std::int32_t value[kLanes] = {kUnselectable, kUnselectable, kUnselectable, kUnselectable};
  std::uint32_t attempts[kLanes] = {};  // N(e) + O(e)
  std::uint32_t link[kLanes] = {};      // child, and state in the high bits
  std::uint32_t packed[kLanes] = {};    // prior in the low half, O(e) in the high half

  [[nodiscard]] EdgeState state(std::uint32_t lane) const {
    return static_cast<EdgeState>(link[lane] >> kStateShift);
  }
  [[nodiscard]] NodeId child(std::uint32_t lane) const { return link[lane] & kChildMask; }
  [[nodiscard]] std::uint32_t in_flight(std::uint32_t lane) const {
    return packed[lane] >> kInFlightShift;
  }
  [[nodiscard]] std::uint32_t visits(std::uint32_t lane) const {
    return attempts[lane] - in_flight(lane);
  }
  // A visit more under way, and one less.
  void take_off(std::uint32_t lane) {
    ++attempts[lane];
    packed[lane] += 1U << kInFlightShift;
  }
  void land(std::uint32_t lane) { packed[lane] -= 1U << kInFlightShift; }
  void set(std::uint32_t lane, EdgeState state, NodeId child) {
    link[lane] = (static_cast<std::uint32_t>(state) << kStateShift) | (child & kChildMask);
  }
};
static_assert(sizeof(EdgeGroup) == 64);

// A state and the first of its edges, which is all that most states ever issue: a pair of cache
// lines, which processors fetch together.
struct alignas(128) Node {
  std::int64_t weighted_sum = 0;   // u(n) + sum over DONE edges of N(e) * Q(child)
  FixedScore best = 0;             // V, the best score here or below
  FixedScore value = 0;            // Q
  std::uint32_t done_visits = 0;   // sum over DONE edges of N(e)
  std::uint32_t attempts = 0;      // sum over all edges of N(e) + O(e)
  std::uint32_t groups = 0;        // edges beyond first_edges: index of an EdgeGroup
  std::uint32_t proposals = 0;     // its edges to be: index of the first word, see ProposalWord
  std::uint32_t tried_prior = 0;   // sum of P over issued edges, in kPriorSumUnit
  NodeId parent = kNoNode;         // source of the first DONE edge that leads here
  std::uint32_t more_parents = 0;  // further ones: index + 1 of an InLink, 0 for none
  std::uint32_t rank = 0;          // above that of every parent
  NodeId ahead = kRootNode;        // where a visit last came to some steps further on: a hint
  std::uint16_t parent_place = 0;
  std::uint16_t live = 0;        // edges that can still yield work, now or later
  std::uint16_t issued = 0;      // edges that were issued
  std::uint16_t next_slot = 0;   // UNTRIED edge of the highest prior, kNoSlot when there is none
  std::uint16_t next_prior = 0;  // its prior, packed
  NodeState state : 2 = NodeState::in_flight;
  bool open : 1 = false;          // its edges are known
  bool pending : 1 = false;       // its value is about to be recomputed
  bool best_raised : 1 = false;   // V grew since its value was last computed
  std::uint8_t recent_place = 0;  // of the edge that a visit last took: a guess at the next one's

  EdgeGroup first_edges;
};
static_assert(sizeof(Node) == 128, "a node fills a pair of cache lines");

// A further parent of a node with several.
struct InLink {
  NodeId parent = kNoNode;
  std::uint32_t place = 0;
  std::uint32_t next = 0;  // index + 1, 0 at the end
};
static_assert(sizeof(InLink) == 12);

// Edges to be, one word each, in the order proposed and after a word with their number: prior in
// the low half, flags above.
struct ProposalWord {
  static constexpr std::uint32_t kPriorMask = 0xFFFF;
  static constexpr std::uint32_t kUntried = 1U << 16;  // may be issued
  static constexpr std::uint32_t kNextVariant = 1U
                                                << 17;  // the next word is this one's next variant
};
inline constexpr std::uint16_t kNoSlot = 0xFFFF;
inline constexpr std::uint32_t kMaxEdges = 0xFFFE;

}  // namespace regraph
