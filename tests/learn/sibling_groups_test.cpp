#include "learn/sibling_groups.h"

#include "learn/examples.h"

#include <gtest/gtest.h>

#include <cmath>

namespace regraph::learn::sibling_groups_test {
namespace {

using examples::digest;
using examples::digest_state;
using examples::fails;
using examples::leads;
using examples::small_graph;

std::vector<SiblingGroup> groups_of(const std::vector<RunDigest>& digests) {
  static const policy::FeatureLayout layout({"swap", "tile", "unroll"});
  static const StepGraph graph = small_graph();
  return sibling_groups(digests, layout, graph);
}

// R of each edge of the state, in the order of its proposals.
std::vector<double> best_below(const std::vector<SiblingGroup>& groups, const std::string& state) {
  std::vector<double> result;
  for (const SiblingGroup& group : groups) {
    if (group.state != state) continue;
    for (const SiblingEdge& edge : group.edges)
      result.push_back(edge.best_below);
  }
  return result;
}

void expect_near(const std::vector<double>& values, const std::vector<double>& expected) {
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t at = 0; at < values.size(); ++at)
    EXPECT_NEAR(values[at], expected[at], 1e-12) << at;
}

// What is gained `further` steps below the child.
double discounted(double gain, int further) {
  return gain * std::pow(kStepDiscount, further);
}

//   0 ── swap ──> 1 (-0.1) ── tile ──> 3 (0.9) ── swap ──> 4 (0.5)
//   └── tile ──> 2 (0.3) ── swap ─────^
std::vector<DigestState> small_dag() {
  DigestState original = digest_state(0, 0.0, {"swap", "tile", "unroll"});
  original.edges = {leads(0, 1, -0.1), leads(1, 2, 0.3), fails(2)};
  DigestState one = digest_state(1, -0.1, {"tile", "unroll"});
  one.view.history = {"swap"};
  one.edges = {leads(0, 3, 1.0), fails(1)};
  DigestState two = digest_state(2, 0.3, {"swap", "unroll"});
  two.view.history = {"tile"};
  two.edges = {leads(0, 3, 0.6), fails(1)};
  DigestState three = digest_state(3, 0.9, {"swap"});
  three.view.history = {"swap", "tile"};
  three.edges = {leads(0, 4, -0.4)};
  return {original, one, two, three, digest_state(4, 0.5, {})};
}

TEST(SiblingGroups, TellWhatIsReachedBelow) {
  const auto groups = groups_of({digest("k", "map", small_dag())});
  ASSERT_EQ(groups.size(), 3U);  // state3 has one edge, state4 none
  EXPECT_EQ(groups[0].state, "state0");
  EXPECT_TRUE(groups[0].at_original);
  EXPECT_EQ(groups[0].family, "map");
  EXPECT_EQ(groups[0].kernel, "k");
  EXPECT_FALSE(groups[1].at_original);
  // A step that loses alone has what comes after it.
  expect_near(best_below(groups, "state0"), {discounted(0.9, 1), discounted(0.9, 1), -1.0});
  expect_near(best_below(groups, "state1"), {1.0, -1.0});
  expect_near(best_below(groups, "state2"), {0.6, -1.0});
  EXPECT_NEAR(groups[0].edges[0].log_gain, -0.1, 1e-12);
  EXPECT_TRUE(groups[0].edges[0].verified);
  EXPECT_FALSE(groups[0].edges[2].verified);
}

TEST(SiblingGroups, NothingBelowIsTheStepItself) {
  std::vector<DigestState> states = small_dag();
  states[1].edges.clear();
  states[2].edges.clear();
  expect_near(best_below(groups_of({digest("k", "map", states)}), "state0"), {-0.1, 0.3, -1.0});
}

TEST(SiblingGroups, RepeatsLeadNowhere) {
  std::vector<DigestState> states = small_dag();
  states[1].edges[0].repeats = true;  // so 3 is below 2 only
  auto groups = groups_of({digest("k", "map", states)});
  expect_near(best_below(groups, "state0"), {-0.1, discounted(0.9, 1), -1.0});
  // Going back to the original does not bring what the original brings.
  states = small_dag();
  states[1].edges[1] = leads(1, 0, 0.1, true);
  groups = groups_of({digest("k", "map", states)});
  expect_near(best_below(groups, "state1"), {1.0, 0.1});
  expect_near(best_below(groups, "state0"), {discounted(0.9, 1), discounted(0.9, 1), -1.0});
}

TEST(SiblingGroups, AStepThatGivesTheKernelItselfBringsNothing) {
  std::vector<DigestState> states = small_dag();
  states[0].edges[2] = leads(2, 0, 0.0, true);
  expect_near(best_below(groups_of({digest("k", "map", states)}), "state0"),
              {discounted(0.9, 1), discounted(0.9, 1), 0.0});
}

TEST(SiblingGroups, ReturnsAreLimited) {
  DigestState original = digest_state(0, 0.0, {"swap", "tile"});
  original.edges = {leads(0, 1, 7.0), leads(1, 2, -7.0)};
  const auto groups = groups_of(
      {digest("k", "map", {original, digest_state(1, 7.0, {}), digest_state(2, -7.0, {})})});
  ASSERT_EQ(groups.size(), 1U);
  expect_near(best_below(groups, "state0"), {1.5, -1.0});
  EXPECT_EQ(groups[0].edges[0].log_gain, 1.5);
  EXPECT_EQ(groups[0].edges[1].log_gain, -1.0);
}

TEST(SiblingGroups, OfFewerThanTwoEdgesThereAreNone) {
  DigestState original = digest_state(0, 0.0, {"swap", "tile"});
  original.edges = {leads(0, 1, 0.5), fails(0)};  // two variants of one step
  EXPECT_TRUE(groups_of({digest("k", "map", {original})}).empty());
  EXPECT_TRUE(groups_of({}).empty());
}

TEST(SiblingGroups, VariantsOfAStepAreOneEdge) {
  DigestState original = digest_state(0, 0.0, {"swap", "tile"});
  original.edges = {fails(0), leads(0, 1, 0.5), leads(0, 2, 0.25), leads(1, 3, 0.125)};
  const auto groups = groups_of({digest("k", "map",
                                        {original, digest_state(1, 0.5, {}),
                                         digest_state(2, 0.25, {}), digest_state(3, 0.125, {})})});
  expect_near(best_below(groups, "state0"), {0.5, 0.125});
  EXPECT_TRUE(groups[0].edges[0].verified);
}

// Runs know states by other ids, and found other things below them.
TEST(SiblingGroups, AStateOfSeveralRunsIsOneGroup) {
  DigestState here = digest_state(0, 0.0, {"swap", "tile", "unroll"});
  here.edges = {leads(0, 1, 0.2)};
  DigestState there = here;
  there.edges = {fails(1), leads(0, 9, 0.2)};
  DigestState below = digest_state(9, 0.2, {"tile"});
  below.edges = {leads(0, 5, 0.5)};
  const RunDigest one = digest("k", "map", {here, digest_state(1, 0.2, {})});
  const RunDigest other = digest("k", "map", {there, below, digest_state(5, 0.7, {})});
  EXPECT_TRUE(groups_of({one}).empty());
  for (const auto& groups : {groups_of({one, other}), groups_of({other, one})}) {
    ASSERT_EQ(groups.size(), 1U);
    expect_near(best_below(groups, "state0"), {discounted(0.7, 1), -1.0});
  }
  // The same state of another kernel is another one.
  const auto apart = groups_of({other, digest("another kernel", "map", other.states)});
  ASSERT_EQ(apart.size(), 2U);
  EXPECT_EQ(apart[0].kernel, "another kernel");
  EXPECT_FALSE(apart[0].derived);
  RunDigest variant = other;
  variant.derived = true;
  EXPECT_TRUE(groups_of({variant})[0].derived);
}

TEST(SiblingGroups, RowsAreThoseOfTheirEdges) {
  const policy::FeatureLayout layout({"swap", "tile", "unroll"});
  DigestState original = digest_state(0, 0.0, {"swap", "unroll", "tile"});
  original.view.proposals[2].parameters = {{"factor", "3"}};
  original.view.facts = {{"occupancy", 0.5}};
  original.edges = {leads(2, 1, 0.2), leads(0, 2, 0.1)};
  const auto groups = groups_of({digest("k", "map", {original})});
  ASSERT_EQ(groups.size(), 1U);
  ASSERT_EQ(groups[0].edges.size(), 2U);
  const auto number = [&](std::size_t edge, const char* name) {
    return groups[0].edges[edge].row[*layout.place(name)];
  };
  EXPECT_EQ(number(0, "step.swap"), 1.0F);
  EXPECT_EQ(number(1, "step.swap"), 0.0F);
  EXPECT_EQ(number(1, "step.tile"), 1.0F);
  EXPECT_EQ(number(1, "setting.factor"), 2.0F);
  EXPECT_EQ(number(0, "fact.occupancy"), 0.5F);
  EXPECT_GT(number(0, "graph.log_prior"), number(1, "graph.log_prior"));  // 6x was published
  EXPECT_TRUE(std::isnan(number(0, "change.loops")));                     // nobody knows the code
}

// Which of two equal results was found first says nothing about the steps.
TEST(SiblingGroups, AStepThatLedWhereASiblingLedIsWorthAsMuch) {
  std::vector<DigestState> states = small_dag();
  states[0].edges[2] = leads(2, 2, 0.3, true);
  expect_near(best_below(groups_of({digest("k", "map", states)}), "state0"),
              {discounted(0.9, 1), discounted(0.9, 1), discounted(0.9, 1)});
}

}  // namespace
}  // namespace regraph::learn::sibling_groups_test
