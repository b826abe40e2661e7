#include "regraph/step_graph.h"

#include <gtest/gtest.h>

namespace regraph {
namespace {

Step named(const char* id, std::vector<std::string> aliases = {}) {
  Step step;
  step.id = id;
  step.name = std::string("the ") + id;
  step.aliases = std::move(aliases);
  return step;
}

StepGraph example() {
  StepGraph graph;
  EXPECT_TRUE(graph.add_step(named("swap", {"Memory Coalescing"})));
  EXPECT_TRUE(graph.add_step(named("tile", {"#pragma tile"})));
  EXPECT_TRUE(graph.add_transition("init", "swap", {6.0, 2.0, {}}));
  EXPECT_TRUE(graph.add_transition("swap", "tile", {1.5, 2.0, {}}));
  return graph;
}

TEST(StepGraph, FindsStepsByIdNameAndAlias) {
  const StepGraph graph = example();
  ASSERT_NE(graph.find("swap"), nullptr);
  EXPECT_EQ(graph.find("memory coalescing"), nullptr);
  EXPECT_EQ(graph.find("init"), nullptr);
  EXPECT_EQ(graph.find_by_any_name("memory-COALESCING!"), graph.find("swap"));
  EXPECT_EQ(graph.find_by_any_name("The Tile"), graph.find("tile"));
  EXPECT_EQ(graph.find_by_any_name("pragma tile"), graph.find("tile"));
  EXPECT_EQ(graph.find_by_any_name(""), nullptr);
  EXPECT_EQ(graph.find_by_any_name("unknown"), nullptr);
}

TEST(StepGraph, RejectsDuplicatesAndUnknownNames) {
  StepGraph graph = example();
  const auto code = [](const Status& status) {
    return status ? std::string("ok") : std::string(name(status.error().code));
  };
  EXPECT_EQ(code(graph.add_step(named("swap"))), "invalid_argument");
  EXPECT_EQ(code(graph.add_step(named("init"))), "invalid_argument");
  EXPECT_EQ(code(graph.add_step(named(""))), "invalid_argument");
  EXPECT_EQ(code(graph.add_step(named("other", {"memory_coalescing"}))), "invalid_argument");
  Step odd = named("odd");
  odd.evidence = {{"moon_phase", Comparison::less, 1.0, 1.0}};
  EXPECT_EQ(code(graph.add_step(odd)), "invalid_argument");
  EXPECT_EQ(code(graph.add_transition("swap", "nowhere", {})), "not_found");
  EXPECT_EQ(code(graph.add_transition("swap", "init", {})), "invalid_argument");
  EXPECT_EQ(code(graph.add_transition("init", "swap", {})), "invalid_argument");
  EXPECT_EQ(code(graph.add_transition("tile", "swap", {0.0, 1.0, {}})), "invalid_argument");
  EXPECT_EQ(code(graph.add_transition("tile", "swap", {1.0, -1.0, {}})), "invalid_argument");
  EXPECT_EQ(graph, example());  // nothing of all this left a trace
}

TEST(StepGraph, AllowsCyclesAndSelfLoops) {
  StepGraph graph = example();
  EXPECT_TRUE(graph.add_transition("tile", "swap", {}));
  EXPECT_TRUE(graph.add_transition("tile", "tile", {}));
  EXPECT_EQ(graph.transitions().size(), 4U);
}

TEST(StepGraph, RecordsOutcomesByDevice) {
  StepGraph graph = example();
  EXPECT_TRUE(graph.record("swap", "tile", "h200", {true, 0.4}));
  EXPECT_TRUE(graph.record("swap", "tile", "h200", {false, 0.0}));
  EXPECT_TRUE(graph.record("swap", "tile", "a100", {true, 0.2}));
  const Transition* transition = graph.transition("swap", "tile");
  ASSERT_NE(transition, nullptr);
  EXPECT_EQ(transition->statistics.at("h200").attempts, 2);
  EXPECT_EQ(transition->statistics.at("h200").verified, 1);
  EXPECT_EQ(transition->statistics.at("a100").verified, 1);
  EXPECT_TRUE(graph.record("tile", "swap", "h200", {true, 0.1}));  // a transition nobody published
  ASSERT_NE(graph.transition("tile", "swap"), nullptr);
  EXPECT_DOUBLE_EQ(graph.transition("tile", "swap")->expected_speedup, 1.0);
  EXPECT_FALSE(graph.record("tile", "nowhere", "h200", {true, 0.1}));
}

}  // namespace
}  // namespace regraph
