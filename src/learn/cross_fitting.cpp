#include "learn/cross_fitting.h"

#include "learn/graph_training.h"
#include "learn/observation_table.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>

namespace regraph::learn {

std::map<std::string, int> family_parts(std::span<const std::string> families,
                                        const NameGroups& together, int count) {
  std::map<std::string, int> of_leaders;
  for (const std::string& family : families)
    of_leaders.emplace(together.leader(family), 0);
  int next = 0;
  for (auto& [leader, part] : of_leaders)
    part = next++ % count;
  std::map<std::string, int> parts;
  for (const std::string& family : families)
    parts[family] = of_leaders.at(together.leader(family));
  return parts;
}

std::vector<SiblingGroup> cross_fitted_groups(std::span<const RunDigest> digests,
                                              const policy::FeatureLayout& layout,
                                              const StepGraph& graph, const NameGroups& together,
                                              int parts) {
  std::set<std::string> families;
  for (const RunDigest& digest : digests)
    families.insert(digest.family);
  const std::vector<std::string> names(families.begin(), families.end());
  const auto part_of = family_parts(names, together, parts);
  if (graph.learned_from().empty() || part_of.empty())
    return sibling_groups(digests, layout, graph);
  std::vector<SiblingGroup> groups;
  for (int part = 0; part < parts; ++part) {
    std::vector<RunDigest> own;
    ObservationTable others;
    for (const RunDigest& digest : digests) {
      if (part_of.at(digest.family) == part) {
        own.push_back(digest);
      } else {
        others.add(digest);
      }
    }
    if (own.empty()) continue;
    auto some = sibling_groups(own, layout, train_graph(graph, others));
    std::ranges::move(some, std::back_inserter(groups));
  }
  std::ranges::stable_sort(
      groups, {}, [](const SiblingGroup& group) { return std::tie(group.kernel, group.state); });
  return groups;
}

}  // namespace regraph::learn
