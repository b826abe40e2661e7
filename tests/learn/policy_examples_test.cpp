#include "learn/policy_examples.h"

#include "learn/sibling_examples.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace regraph::learn::policy_examples_test {
namespace {

using namespace examples;

TEST(PolicyExamples, InputsAreStandardisedAndStepsLeftAsTheyAre) {
  std::vector<SiblingEdge> edges = {edge_of(0.0, -1.0), edge_of(0.5, -1.0)};
  edges[0].row[place("setting.factor")] = 1.0F;
  edges[1].row[place("setting.factor")] = 5.0F;
  edges[1].row[place("step.tile")] = 1.0F;
  edges[0].row[place("change.loops")] = std::nanf("");
  edges[1].row[place("change.loops")] = std::nanf("");  // never known: no input
  const std::vector<SiblingGroup> groups = {group_of("map", edges)};
  const policy::PolicyModel model = describe_inputs(groups, layout());
  ASSERT_EQ(model.inputs, (std::vector<std::string>{"step.tile", "setting.factor"}));
  EXPECT_EQ(model.means, (std::vector<float>{0.0F, 3.0F}));
  EXPECT_EQ(model.scales, (std::vector<float>{1.0F, 0.5F}));
  const auto examples = make_examples(groups, layout(), model);
  ASSERT_EQ(examples.size(), 1U);
  EXPECT_EQ(examples[0].rows[0], (std::vector<float>{0.0F, -1.0F}));
  EXPECT_EQ(examples[0].rows[1], (std::vector<float>{1.0F, 1.0F}));
  EXPECT_EQ(examples[0].returns, (std::vector<double>{0.0, 0.5}));
}

TEST(PolicyExamples, FamiliesWeighTheSame) {
  const SiblingGroup equal = group_of("big", {edge_of(0.1, -1.0), edge_of(0.11, -1.0)});
  const SiblingGroup decided = group_of("big", {edge_of(0.1, -1.0), edge_of(-1.0, -1.0)});
  SiblingGroup alone = decided;
  alone.family = "small";
  const std::vector<SiblingGroup> groups = {equal, decided, alone, decided};
  const auto examples = make_examples(groups, layout(), {});
  ASSERT_EQ(examples.size(), 4U);
  EXPECT_DOUBLE_EQ(examples[2].weight, 2.0);
  for (const std::size_t at : {0U, 1U, 3U})
    EXPECT_DOUBLE_EQ(examples[at].weight, 2.0 / 3.0);
  EXPECT_FALSE(examples[0].decided);
  EXPECT_TRUE(examples[1].decided);
  EXPECT_EQ(examples[1].verified, (std::vector<bool>{true, false}));
  // What loses is worth as much as what does nothing.
  EXPECT_EQ(examples[1].returns, (std::vector<double>{0.1, 0.0}));
  const SiblingGroup losing = group_of("big", {edge_of(-0.5, -1.0), edge_of(0.0, -1.0)});
  EXPECT_FALSE(make_examples({{losing}}, layout(), {})[0].decided);
}

TEST(PolicyExamples, GroupsOfVariantsWeighLess) {
  const SiblingGroup own = group_of("map", {edge_of(0.1, -1.0), edge_of(-1.0, -1.0)});
  SiblingGroup derived = own;
  derived.derived = true;
  const auto weights = [&](const std::vector<SiblingGroup>& groups) {
    std::vector<double> result;
    for (const PolicyExample& example : make_examples(groups, layout(), {}))
      result.push_back(example.weight);
    return result;
  };
  // Half as much each ...
  const std::vector<double> few = weights({own, derived, own});
  EXPECT_DOUBLE_EQ(few[0], 3.0 / 2.5);
  EXPECT_DOUBLE_EQ(few[1], 1.5 / 2.5);
  // ... and all of them no more than the others.
  const std::vector<double> many = weights({own, derived, derived, derived, derived});
  EXPECT_DOUBLE_EQ(many[0], 2.5);
  EXPECT_DOUBLE_EQ(many[1], 2.5 / 4.0);
  // A family weighs the same whether it has variants, or nothing else.
  SiblingGroup alone = derived;
  alone.family = "sum";
  const std::vector<double> families = weights({own, derived, alone});
  EXPECT_DOUBLE_EQ(families[0] + families[1], families[2]);
}

TEST(PolicyExamples, SoftmaxStandsLargeLogits) {
  const std::vector<double> even = softmax(std::vector<double>{1e4, 1e4, -1e4});
  EXPECT_NEAR(even[0], 0.5, 1e-12);
  EXPECT_NEAR(even[2], 0.0, 1e-12);
  const std::vector<double> thirds = softmax(std::vector<double>{std::log(2.0), 0.0});
  EXPECT_NEAR(thirds[0], 2.0 / 3.0, 1e-12);
}

}  // namespace
}  // namespace regraph::learn::policy_examples_test
