// Sibling groups made by hand, and some of which one input decides.
#pragma once

#include "learn/sibling_groups.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace regraph::learn::examples {

inline const policy::FeatureLayout& layout() {
  static const policy::FeatureLayout kLayout({"swap", "tile"});
  return kLayout;
}

inline std::size_t place(const char* name) {
  return *layout().place(name);
}

inline SiblingEdge edge_of(double best_below, double log_prior) {
  SiblingEdge edge;
  edge.row.assign(layout().size(), 0.0F);
  edge.row[place("graph.log_prior")] = static_cast<float>(log_prior);
  edge.verified = best_below > -1.0;
  edge.log_gain = edge.verified ? best_below : 0.0;
  edge.best_below = best_below;
  return edge;
}

inline SiblingGroup group_of(const std::string& family, std::vector<SiblingEdge> edges) {
  return {family, "kernel", "state", true, std::move(edges)};
}

// Groups in which "setting.factor" decides which of four siblings pays. Priors and the other inputs
// say nothing of it.
inline std::vector<SiblingGroup> decided_groups(std::uint64_t seed, int count) {
  std::mt19937_64 random(seed);
  const auto number = [&] { return static_cast<float>(random() % 1000) / 1000.0F; };
  std::vector<SiblingGroup> groups;
  for (int group = 0; group < count; ++group) {
    std::vector<float> factors = {1.0F, 2.0F, 3.0F, 4.0F};
    std::ranges::shuffle(factors, random);
    std::vector<SiblingEdge> edges;
    const float occupancy = number();
    for (const float factor : factors) {
      const double noise = 0.02 * number();
      SiblingEdge edge = edge_of(0.2 * (factor - 2.0) + noise, std::log(0.1 + 0.5 * number()));
      edge.row[place("setting.factor")] = factor;
      edge.row[place("setting.width")] = number();
      edge.row[place("fact.occupancy")] = occupancy;
      edge.row[place("change.loops")] =
          random() % 2 == 0 ? number() : std::numeric_limits<float>::quiet_NaN();
      edges.push_back(std::move(edge));
    }
    groups.push_back(group_of("family" + std::to_string(group % 5), std::move(edges)));
  }
  return groups;
}

}  // namespace regraph::learn::examples
