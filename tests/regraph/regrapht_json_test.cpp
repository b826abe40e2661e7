#include "regraph/regrapht_json.h"

#include "regraph/regraph_yaml.h"

#include <gtest/gtest.h>

#include <random>

namespace regraph::regrapht_json_test {
namespace {

ReGraphTGraph sample() {
  ReGraphTGraph graph;
  graph.names = {"init state", "Memory Coalescing", "Warp Specialisation \"x\"", "smem pad"};
  graph.edges = {
      {0, 1, {{"sgemm", "rows\nfirst", "swap", "a[i]", "a[j]"}, {"add", "", "d", "", "\xc3\xa9"}}},
      {1, 2, {{"k", "t", "let one warp load", "b", "a"}}},
      {2, 2, {}},
      {2, 1, {{"k", "t", "d", "b", "a"}}},
      {1, 0, {}},
      {2, 3, {}},
  };
  return graph;
}

StepGraph shipped() {
  auto graph = load_regraph(std::string(REGRAPH_SOURCE_DIR) + "/graphs/cuda.yaml");
  EXPECT_TRUE(graph) << graph.error().message;
  return std::move(*graph);
}

TEST(ReGraphTJson, IsReadBackAsItWasWritten) {
  const ReGraphTGraph graph = sample();
  const auto read = parse_regrapht(regrapht_text(graph), "graph.json");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, graph);
  EXPECT_EQ(regrapht_text(*read), regrapht_text(graph));
}

// What ReGraphT's own program writes: the edge that introduced a method is only named by the nodes.
TEST(ReGraphTJson, EdgesThatOnlyTheNodesNameAreRestored) {
  const auto read = parse_regrapht(R"({"node": [
    {"index": 0, "name": "init state", "in": [], "out": [1]},
    {"index": 1, "name": "tiling", "in": [0, 1], "out": [1]}],
    "edge": [{"src": 1, "tgt": 1, "examples": []}]})",
                                   "graph.json");
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->edges.size(), 2U);
  EXPECT_EQ(read->edges[1], (ReGraphTEdge{0, 1, {}}));
}

TEST(ReGraphTJson, KnownMethodsBecomeTheStepsOfTheVocabulary) {
  const StepGraph vocabulary = shipped();
  const auto graph = to_regraph(sample(), vocabulary);
  ASSERT_TRUE(graph) << graph.error().message;
  ASSERT_NE(graph->find("coalesce_swap"), nullptr);
  EXPECT_TRUE(graph->find("coalesce_swap")->rewriter);
  EXPECT_EQ(*graph->find("coalesce_swap"), *vocabulary.find("coalesce_swap"));
  ASSERT_NE(graph->find("smem_pad"), nullptr);
  const Step* own = graph->find("warp_specialisation_x");
  ASSERT_NE(own, nullptr);
  EXPECT_EQ(own->instruction, "let one warp load");
  const Transition* first = graph->transition("init", "coalesce_swap");
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->prior_weight, 2.0);
  EXPECT_EQ(first->expected_speedup,
            vocabulary.transition("init", "coalesce_swap")->expected_speedup);
  EXPECT_EQ(graph->transition("warp_specialisation_x", "smem_pad")->expected_speedup, kUnknownGain);
  EXPECT_NE(graph->transition("warp_specialisation_x", "warp_specialisation_x"), nullptr);
  EXPECT_EQ(graph->transitions().size(), 5U);
  // It can be kept as a graph of this project's own.
  EXPECT_EQ(*parse_regraph(regraph_text(*graph), "x.yaml"), *graph);
}

TEST(ReGraphTJson, TheShippedGraphSurvivesTheRoundTrip) {
  const StepGraph graph = shipped();
  const auto read = parse_regrapht(regrapht_text(from_regraph(graph)), "graph.json");
  ASSERT_TRUE(read) << read.error().message;
  const auto back = to_regraph(*read, graph);
  ASSERT_TRUE(back) << back.error().message;
  ASSERT_EQ(back->steps().size(), graph.steps().size());
  for (const Step* step : graph.steps())
    EXPECT_EQ(*back->find(step->id), *step);
  ASSERT_EQ(back->transitions().size(), graph.transitions().size());
  for (const auto& transition : graph.transitions()) {
    const Transition* other = back->transition(transition.from, transition.to);
    ASSERT_NE(other, nullptr);
    EXPECT_EQ(other->expected_speedup, transition.transition.expected_speedup);
  }
}

TEST(ReGraphTJson, ErrorsNameTheirPlace) {
  const auto message = [](const char* text) {
    const auto read = parse_regrapht(text, "g.json");
    EXPECT_FALSE(read) << text;
    EXPECT_EQ(read.ok() ? ErrorCode::internal : read.error().code, ErrorCode::parse);
    return read.ok() ? "" : read.error().message;
  };
  EXPECT_EQ(message("{\n\"node\": [,"), "g.json:2: this is no JSON");
  EXPECT_EQ(message("[]"), "g.json: the document must be an object");
  EXPECT_EQ(message("{}"), "g.json: node is missing");
  EXPECT_EQ(message(R"({"node": []})"), "g.json: node holds no initial state");
  EXPECT_EQ(message(R"({"node": [{"index": 1, "name": "a"}]})"),
            "g.json: node[0].index is beyond the last node");
  EXPECT_EQ(message(R"({"node": [{"index": 0, "name": "a", "in": [], "out": []}],
                        "edge": [{"src": 0, "tgt": 7, "examples": []}]})"),
            "g.json: edge[0].tgt there is no node 7");
  EXPECT_EQ(message(R"({"node": [{"index": 0, "name": "a", "in": [], "out": [-1]}], "edge": []})"),
            "g.json: node[0].out must be the index of a node");
  EXPECT_EQ(message(R"({"node": [{"index": 0, "name": "a", "in": [], "out": []}],
                        "edge": [{"src": 0, "tgt": 0, "examples": [{"name": 3}]}]})"),
            "g.json: edge[0].examples[0].name must be text");
  ReGraphTGraph nameless = sample();
  nameless.names[1] = "!?";
  EXPECT_EQ(to_regraph(nameless, StepGraph()).error().code, ErrorCode::invalid_argument);
}

// Property: any damage gives an error or a graph that can be written and made into a ReGraph.
TEST(ReGraphTJson, SurvivesDamage) {
  const std::string whole = regrapht_text(sample());
  const StepGraph vocabulary = shipped();
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    std::string text = whole;
    for (int change = 0; change < 1 + round % 4; ++change) {
      const std::size_t at = random() % text.size();
      if (random() % 2 == 0) {
        text[at] = static_cast<char>(random());
      } else {
        text.erase(at, random() % 20);
      }
      if (text.empty()) text = "x";
    }
    const auto read = parse_regrapht(text, "g.json");
    if (!read) continue;
    EXPECT_TRUE(parse_regrapht(regrapht_text(*read), "g.json"));
    static_cast<void>(to_regraph(*read, vocabulary));
  }
}

}  // namespace
}  // namespace regraph::regrapht_json_test
