#include "learn/cross_fitting.h"

#include "learn/examples.h"
#include "learn/graph_training.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace regraph::learn::cross_fitting_test {
namespace {

using namespace examples;

TEST(FamilyParts, AreOfNearlyEqualSizeAndKeepKinTogether) {
  const std::vector<std::string> families = {"a", "b", "c", "d", "e", "f", "a"};
  NameGroups together;
  together.join({"b", "f"});
  const auto parts = family_parts(families, together, 3);
  ASSERT_EQ(parts.size(), 6U);
  EXPECT_EQ(parts.at("b"), parts.at("f"));
  std::map<int, int> sizes;
  for (const auto& [family, part] : parts)
    ++sizes[part];
  ASSERT_EQ(sizes.size(), 3U);
  for (const auto& [part, size] : sizes) {
    EXPECT_GE(part, 0);
    EXPECT_LT(part, 3);
    EXPECT_LE(size, 3);
  }
  EXPECT_EQ(family_parts(families, together, 3), parts);
  EXPECT_TRUE(family_parts({}, together, 3).empty());
}

// A kernel where swapping gains `gain` and tiling nothing.
RunDigest swapped(const std::string& kernel, const std::string& family, double gain) {
  DigestState original = digest_state(0, 0.0, {"swap", "tile"});
  original.edges = {leads(0, 1, gain), leads(1, 2, 0.0)};
  return digest(kernel, family,
                {original, digest_state(1, gain, {"tile"}), digest_state(2, 0.0, {})});
}

double prior_of(const std::vector<SiblingGroup>& groups, const policy::FeatureLayout& layout,
                const std::string& family) {
  for (const SiblingGroup& group : groups) {
    if (group.family == family) return group.edges[0].row[*layout.place("graph.log_prior")];
  }
  return std::nan("");
}

TEST(CrossFitting, PriorsOfAFamilyAreNotLearnedFromIt) {
  const std::vector<RunDigest> digests = {swapped("k1", "pays", 1.4), swapped("k2", "never", 0.0),
                                          swapped("k3", "nor_this", 0.0)};
  ObservationTable table;
  for (const RunDigest& one : digests)
    table.add(one);
  const StepGraph published = small_graph();
  const StepGraph graph = train_graph(published, table);
  const policy::FeatureLayout layout({"swap", "tile"});
  const auto all = sibling_groups(digests, layout, graph);
  const auto fitted = cross_fitted_groups(digests, layout, graph, {}, 3);
  ASSERT_EQ(fitted.size(), all.size());
  for (std::size_t at = 0; at < all.size(); ++at) {
    EXPECT_EQ(fitted[at].kernel, all[at].kernel);
    EXPECT_EQ(fitted[at].state, all[at].state);
  }
  // Swapping looks worse to the family in which it paid than to one that learned from that.
  EXPECT_LT(prior_of(fitted, layout, "pays"), prior_of(all, layout, "pays"));
  EXPECT_LT(prior_of(fitted, layout, "pays"), prior_of(fitted, layout, "never"));
  // And is what a graph of the others gives.
  ObservationTable others;
  others.add(digests[1]);
  others.add(digests[2]);
  const std::vector<RunDigest> own = {digests[0]};
  EXPECT_EQ(prior_of(fitted, layout, "pays"),
            prior_of(sibling_groups(own, layout, train_graph(published, others)), layout, "pays"));
}

TEST(CrossFitting, AGraphThatLearnedNothingIsTakenAsItIs) {
  const std::vector<RunDigest> digests = {swapped("k1", "pays", 1.4), swapped("k2", "never", 0.0)};
  const StepGraph published = small_graph();
  const policy::FeatureLayout layout({"swap", "tile"});
  const auto plain = sibling_groups(digests, layout, published);
  const auto fitted = cross_fitted_groups(digests, layout, published, {}, 2);
  ASSERT_EQ(fitted.size(), plain.size());
  for (std::size_t at = 0; at < plain.size(); ++at)
    EXPECT_EQ(prior_of({fitted[at]}, layout, fitted[at].family),
              prior_of({plain[at]}, layout, fitted[at].family));
  EXPECT_TRUE(cross_fitted_groups({}, layout, published, {}, 2).empty());
}

}  // namespace
}  // namespace regraph::learn::cross_fitting_test
