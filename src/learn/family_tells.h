// Which inputs of a policy give a family away: with those a policy can learn what pays for families
// instead of what pays.
#pragma once

#include "learn/sibling_groups.h"
#include "policy/edge_features.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace regraph::learn {

// How often the nearest other kernel is of a kernel's own family, judged by some inputs alone.
struct FamilyTell {
  std::string inputs;      // beginning of their names, up to the dot; "all"
  std::size_t varied = 0;  // of them that are not the same everywhere
  double found = 0.0;      // share of kernels
  double chance = 0.0;     // the same if another kernel were drawn
  std::size_t kernels = 0;
};

// For each group of the layout's inputs, and all together, at the originals: standardised, an input
// that is not known as its mean, the mean over a state's edges, Euclidean distance; of equally near
// kernels each counts its part. Kernels whose family has no other are not asked for. Empty where
// there are none to ask for.
[[nodiscard]] std::vector<FamilyTell> family_tells(std::span<const SiblingGroup> groups,
                                                   const policy::FeatureLayout& layout);

[[nodiscard]] std::string tells_text(std::span<const FamilyTell> tells);

}  // namespace regraph::learn
