#include "regraph/graph_example.h"

#include <gtest/gtest.h>

#include <vector>

namespace regraph {
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
    ASSERT_TRUE(graph_.add_step(step("swap")));
    ASSERT_TRUE(graph_.add_step(step("tile")));
    ASSERT_TRUE(graph_.add_transition("swap", "tile", {}));
  }
  // The code before, or nothing.
  std::string shown(std::vector<TransitionExample> examples) {
    EXPECT_TRUE(graph_.set_examples("swap", "tile", std::move(examples)));
    const auto found = graph_example(graph_, "swap", "tile", {original_, state_, "h200"});
    return found ? found->before->source : "";
  }

  StepGraph graph_;
  const Candidate original_ = candidate("mine");
  const Candidate state_ = candidate("mine, swapped");
};

TEST_F(GraphExample, IsTheBestOfTheTransition) {
  ASSERT_TRUE(graph_.set_examples("swap", "tile", {example("sum", "a"), example("map", "b")}));
  const auto found = graph_example(graph_, "swap", "tile", {original_, state_, "h200"});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->from, "swap");
  EXPECT_EQ(found->before->source, "before in sum");
  EXPECT_EQ(found->after->source, "after in sum");
  EXPECT_EQ(found->log_gain, 0.5);
  EXPECT_EQ(found->kernel, "function of sum");
  EXPECT_FALSE(graph_example(graph_, "init", "tile", {original_, state_, "h200"}));
  EXPECT_FALSE(graph_example(graph_, "tile", "swap", {original_, state_, "h200"}));
}

TEST_F(GraphExample, IsOfTheSameDeviceWhereThereIsOne) {
  EXPECT_EQ(shown({example("sum", "a", "a100"), example("map", "b")}), "before in map");
  EXPECT_EQ(shown({example("sum", "a", "a100"), example("map", "b", "b200")}), "before in sum");
}

TEST_F(GraphExample, IsNeverOfTheKernelItself) {
  EXPECT_EQ(shown({example("sum", original_.identity.hex())}), "");
  EXPECT_EQ(shown({example("sum", original_.identity.hex()), example("map", "b")}),
            "before in map");
  TransitionExample own = example("sum", "a");
  own.before = original_.source;
  EXPECT_EQ(shown({own}), "");
  own.before = state_.source;
  EXPECT_EQ(shown({own}), "");
}

TEST_F(GraphExample, IsForgottenWithWhatWasLearned) {
  EXPECT_NE(shown({example("sum", "a")}), "");
  graph_ = graph_.published();
  ASSERT_NE(graph_.transition("swap", "tile"), nullptr);
  EXPECT_TRUE(graph_.transition("swap", "tile")->examples.empty());
}

}  // namespace
}  // namespace regraph
