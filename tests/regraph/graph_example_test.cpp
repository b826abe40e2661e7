#include "regraph/graph_example.h"

#include <gtest/gtest.h>

#include <vector>

namespace regraph::graph_example_test {
namespace {

Step step(const std::string& id) {
  Step result;
  result.id = result.name = id;
  return result;
}

TransitionExample example(const std::string& family, const std::string& kernel,
                          const std::string& device = "h200") {
  TransitionExample result;
  result.before = "before in " + family;
  result.after = "after in " + family;
  result.log_gain = 0.5;
  result.device = device;
  result.name = "function of " + family;
  result.kernel = kernel;
  result.family = family;
  return result;
}

Candidate candidate(const std::string& source) {
  Candidate result;
  result.source = source;
  result.identity = hash_text(source);
  return result;
}

class GraphExample : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(graph.add_step(step("swap")));
    ASSERT_TRUE(graph.add_step(step("tile")));
    ASSERT_TRUE(graph.add_transition("swap", "tile", {}));
  }
  // The code before, or nothing.
  std::string shown(std::vector<TransitionExample> examples) {
    EXPECT_TRUE(graph.set_examples("swap", "tile", std::move(examples)));
    const auto found = graph_example(graph, "swap", "tile", {original, state, "h200"});
    return found ? found->before->source : "";
  }

  StepGraph graph;
  const Candidate original = candidate("mine");
  const Candidate state = candidate("mine, swapped");
};

TEST_F(GraphExample, IsTheBestOfTheTransition) {
  ASSERT_TRUE(graph.set_examples("swap", "tile", {example("sum", "a"), example("map", "b")}));
  const auto found = graph_example(graph, "swap", "tile", {original, state, "h200"});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->from, "swap");
  EXPECT_EQ(found->before->source, "before in sum");
  EXPECT_EQ(found->after->source, "after in sum");
  EXPECT_EQ(found->log_gain, 0.5);
  EXPECT_EQ(found->kernel, "function of sum");
  EXPECT_FALSE(graph_example(graph, "init", "tile", {original, state, "h200"}));
  EXPECT_FALSE(graph_example(graph, "tile", "swap", {original, state, "h200"}));
}

TEST_F(GraphExample, IsOfTheSameDeviceWhereThereIsOne) {
  EXPECT_EQ(shown({example("sum", "a", "a100"), example("map", "b")}), "before in map");
  EXPECT_EQ(shown({example("sum", "a", "a100"), example("map", "b", "b200")}), "before in sum");
}

TEST_F(GraphExample, IsNeverOfTheKernelItself) {
  EXPECT_EQ(shown({example("sum", original.identity.hex())}), "");
  EXPECT_EQ(shown({example("sum", original.identity.hex()), example("map", "b")}), "before in map");
  TransitionExample own = example("sum", "a");
  own.before = original.source;
  EXPECT_EQ(shown({own}), "");
  own.before = state.source;
  EXPECT_EQ(shown({own}), "");
}

TEST_F(GraphExample, IsForgottenWithWhatWasLearned) {
  EXPECT_NE(shown({example("sum", "a")}), "");
  graph = graph.published();
  ASSERT_NE(graph.transition("swap", "tile"), nullptr);
  EXPECT_TRUE(graph.transition("swap", "tile")->examples.empty());
}

}  // namespace
}  // namespace regraph::graph_example_test
