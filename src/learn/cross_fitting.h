// What was learned of a family must not be used when something else is trained on it: the trainer
// would take the graph for better than it is, or the networks' memory for knowledge.
#pragma once

#include "learn/name_groups.h"
#include "learn/run_digest.h"
#include "learn/sibling_groups.h"
#include "policy/edge_features.h"
#include "regraph/step_graph.h"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace regraph::learn {

// Divides families into at most `count` parts of nearly equal size, those that are together into
// the same one. Always the same for the same families.
[[nodiscard]] std::map<std::string, int> family_parts(std::span<const std::string> families,
                                                      const NameGroups& together, int count);

// sibling_groups() as a policy that corrects `graph` is trained on. Where the graph has learned,
// the priors of each family are those of a graph that learned from the other parts' digests only.
[[nodiscard]] std::vector<SiblingGroup> cross_fitted_groups(std::span<const RunDigest> digests,
                                                            const policy::FeatureLayout& layout,
                                                            const StepGraph& graph,
                                                            const NameGroups& together, int parts);

}  // namespace regraph::learn
