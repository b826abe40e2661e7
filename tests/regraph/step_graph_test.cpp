#include "regraph/step_graph.h"

#include <gtest/gtest.h>

namespace regraph::step_graph_test {
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

LearnedGains gains(double vote) {
  LearnedGains learned;
  learned.predicted["h200"] = {1, 1, 1, vote, 2, 2, vote};
  return learned;
}

TEST(StepGraph, KeepsWhatWasLearnedApartFromWhatWasPublished) {
  StepGraph graph = example();
  const StepGraph before = graph;
  EXPECT_TRUE(graph.set_learned("tile", gains(0.4)));
  EXPECT_TRUE(graph.set_learned("swap", "tile", gains(0.3)));
  EXPECT_TRUE(graph.set_learned("tile", "swap", gains(0.2)));  // a transition nobody published
  graph.set_learned_from("a table");
  ASSERT_NE(graph.transition("tile", "swap"), nullptr);
  EXPECT_FALSE(graph.transition("tile", "swap")->published());
  EXPECT_EQ(graph.transition("swap", "tile")->learned, gains(0.3));
  EXPECT_EQ(graph.find("tile")->learned, gains(0.4));
  EXPECT_FALSE(graph == before);
  EXPECT_TRUE(graph.published() == before);
  EXPECT_FALSE(graph.set_learned("nowhere", gains(0.1)));
  EXPECT_FALSE(graph.set_learned("init", gains(0.1)));
  EXPECT_FALSE(graph.set_learned("tile", "nowhere", gains(0.1)));
}

TEST(StepGraph, ForgetsCandidates) {
  StepGraph graph = example();
  Step step;
  step.id = step.name = "named by a model";
  step.candidate = true;
  ASSERT_TRUE(graph.add_step(step));
  EXPECT_TRUE(graph.published() == example());
}

}  // namespace
}  // namespace regraph::step_graph_test
