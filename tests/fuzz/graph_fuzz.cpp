// Feeds damaged graphs, YAML and ReGraphT's JSON, to their readers. What is accepted must survive
// being written and read again.
#include "fuzz/mutate.h"
#include "regraph/regraph_yaml.h"
#include "regraph/regrapht_json.h"

#include <cmath>

namespace {

using namespace regraph;  // NOLINT: a program of its own

constexpr std::string_view kWords[] = {
    "steps:",
    "transitions:",
    "- {from: init, to: a, gain: 1e308}",
    "*a",
    "&a",
    "<<: *a",
    "!!binary",
    "? ",
    "gain: .nan",
    "gain: -1",
    "weight: .inf",
    "null",
    "\"index\": ",
    "\"in\": [0]",
    "4294967296",
    "18446744073709551616",
    "\xff\xfe",
    "\xc3\x28",
    "1e999",
    "|\n",
};

constexpr std::string_view kSmallGraph = R"(format: regraph/1
steps:
  - {id: a, name: First, what: w, legality: l, instruction: i, aliases: [x, y],
     parameters: {n: ["1", "2"]}, evidence: [{fact: occupancy, op: "<", value: 0.5, weight: 2}]}
  - {id: b, name: Second, what: w, legality: l, instruction: i, rewriter: true}
transitions:
  - {from: init, to: a, gain: 1.5, weight: 2}
  - {from: a, to: b, gain: 1.1, learned: {predicted: {h200: {families: 1, kernels: 1,
     observations: 2, sum_positive: 0.5, tries: 3, verified: 2, sum_log_gain: 0.1}}}}
  - {from: b, to: b, gain: 0.9, examples: [{name: f, kernel: k, run: r, device: h200, family: map,
     method: measured, log_gain: 0.5, before: "x = 1;\\n", after: "x = 2;"}]}
)";

}  // namespace

int main(int argc, char** argv) {
  fuzz::Rounds rounds(fuzz::settings(argc, argv));
  const Result<StepGraph> shipped =
      load_regraph(std::string(REGRAPH_SOURCE_DIR) + "/graphs/cuda.yaml");
  if (!shipped) rounds.fail(shipped.error().message);
  const std::string large_yaml = regraph_text(*shipped);
  ReGraphTGraph graph = from_regraph(*parse_regraph(kSmallGraph, "small"));
  graph.edges.front().examples = {{"k", "think", "detail", "before\n", "after \"\\"}};
  const std::string small_json = regrapht_text(graph);
  const std::string large_json = regrapht_text(from_regraph(*shipped));

  return rounds.run([&](fuzz::Random& random) {
    const bool large = random() % 16 == 0;
    if (random() % 2 == 0) {
      std::string text = large ? large_yaml : std::string(kSmallGraph);
      fuzz::damage(text, random, kWords);
      const Result<StepGraph> read = parse_regraph(text, "fuzz.yaml");
      if (!read) {
        if (read.error().code != ErrorCode::parse) rounds.fail(read.error().message);
        return;
      }
      const Result<StepGraph> again = parse_regraph(regraph_text(*read), "again.yaml");
      if (!again) rounds.fail("what was written cannot be read: " + again.error().message);
      if (!(*again == *read)) rounds.fail("what was written is another graph: " + text);
      std::vector<StepProposal> proposals;
      for (const Step* step : read->steps())
        proposals.push_back({step->id, {}, 1});
      const std::vector<std::string> history = {"a", "b", "nothing"};
      double sum = 0.0;
      for (const double prior : read->priors(history, {{"occupancy", 0.1}}, {"h200"}, proposals))
        sum += prior;
      if (!proposals.empty() && !(std::abs(sum - 1.0) < 1e-6)) rounds.fail("priors do not add up");
    } else {
      std::string text = large ? large_json : small_json;
      fuzz::damage(text, random, kWords);
      const Result<ReGraphTGraph> read = parse_regrapht(text, "fuzz.json");
      if (!read) {
        if (read.error().code != ErrorCode::parse) rounds.fail(read.error().message);
        return;
      }
      const Result<ReGraphTGraph> again = parse_regrapht(regrapht_text(*read), "again.json");
      if (!again) rounds.fail("what was written cannot be read: " + again.error().message);
      if (!(*again == *read)) rounds.fail("what was written is another graph: " + text);
      const Result<StepGraph> made = to_regraph(*read, *shipped);
      if (made && !parse_regraph(regraph_text(*made), "made.yaml")) {
        rounds.fail("what was made of it cannot be read");
      }
    }
  });
}
