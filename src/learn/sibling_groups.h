// Training examples: the tried edges of one state, beside each other. What to prefer among siblings
// is what a policy has to know, and what one state's edges came to can be compared, while gains of
// different kernels cannot.
#pragma once

#include "learn/run_digest.h"
#include "policy/edge_features.h"
#include "regraph/step_graph.h"

#include <span>
#include <string>
#include <vector>

namespace regraph::learn {

inline constexpr double kStepDiscount = 0.85;

struct SiblingEdge {
  std::vector<float> row;  // of EdgeFeatures
  bool verified = false;
  double log_gain = 0.0;  // of the step alone, limited
  // R within [-1, 1.5]: the most that was gained at the child or below it, discounted by
  // kStepDiscount for each further step; -1 for a failure. What was reached below, because steps
  // that lose alone may win before another. Discounted, because after any harmless step the one
  // that pays can still be taken: without it the harmless one would earn as much.
  double best_below = 0.0;
};

struct SiblingGroup {
  std::string family;
  std::string kernel;  // hash
  std::string state;   // identity
  bool at_original = false;
  std::vector<SiblingEdge> edges;  // at least two
  bool derived = false;            // of a kernel that was made from another one of its family
};

// The groups of all digests of one device and way of timing. A state that several runs knew is one
// group, each edge with the best that any of them found below it. In order of kernel and state.
[[nodiscard]] std::vector<SiblingGroup> sibling_groups(std::span<const RunDigest> digests,
                                                       const policy::FeatureLayout& layout,
                                                       const StepGraph& graph);

}  // namespace regraph::learn
