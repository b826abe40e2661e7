#include "learn/example_table.h"

#include "base/field_json.h"
#include "base/utf8.h"
#include "learn/table_lines.h"
#include "search/state_graph_types.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

namespace regraph::learn {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kExampleHeader = "regraph-examples/1";

// An example as it is kept.
struct ExampleLine {
  std::string from;
  std::string step;
  std::string method;
  int gain = 0;  // FixedScore
  TransitionExample example;
};

template <typename Line, typename Field>
void visit_example(Line& line, Field field) {
  field("from", line.from);
  field("step", line.step);
  field("family", line.example.family);
  field("kernel", line.example.kernel);
  field("name", line.example.name);
  field("device", line.example.device);
  field("method", line.method);
  field("run", line.example.run);
  field("gain", line.gain);
  field("before", line.example.before);
  field("after", line.example.after);
}

double rounded_gain(double log_gain) {
  return to_score(to_fixed(std::clamp(log_gain, -kLargestLogGain, kLargestLogGain)));
}

bool is_step_name(std::string_view text) {
  return !text.empty() && text.size() <= kLongestExampleName && !find_invalid_utf8(text);
}

std::string nonsense_of(const ExampleTable::Transition& transition,
                        const TransitionExample& example) {
  if (!is_step_name(transition.first) || !is_step_name(transition.second))
    return "the steps must be named";
  if (std::string wrong = example.nonsense(); !wrong.empty()) return wrong;
  return example.log_gain < rounded_gain(kLeastExampleGain) ? "the gain is too small" : "";
}

std::string example_text(const ExampleTable::Transition& transition,
                         const TransitionExample& example) {
  const ExampleLine line{transition.first, transition.second, name(example.method),
                         to_fixed(example.log_gain), example};
  Json json = Json::object();
  visit_example(line, FieldWriter(json));
  return json.dump() + '\n';
}

// Adds it to the table; returns what is wrong, or nothing.
std::string read_example_line(std::string_view text, ExampleTable& table) {
  constexpr int kDeepest = 1;
  const auto shallow = [](int depth, Json::parse_event_t, Json&) { return depth <= kDeepest; };
  const Json json = Json::parse(text.begin(), text.end(), shallow, false);
  if (!json.is_object()) return "an example must be an object of JSON";
  ExampleLine line;
  FieldReader reader(json);
  visit_example(line, std::ref(reader));
  if (!reader.whole()) return "an example has other fields";
  if (line.method != name(TimeMethod::predicted) && line.method != name(TimeMethod::measured))
    return "unknown way of timing";
  if (line.method == name(TimeMethod::measured)) line.example.method = TimeMethod::measured;
  line.example.log_gain = to_score(line.gain);
  const ExampleTable::Transition transition(line.from, line.step);
  std::string wrong = nonsense_of(transition, line.example);
  if (wrong.empty()) table.add(transition, std::move(line.example));
  return wrong;
}

}  // namespace

// Why merging does not depend on order: what is dropped is worse than another one of its family,
// or than the best of kMostExamples other families; both only get better.
void ExampleTable::add(const Transition& transition, TransitionExample example) {
  if (!std::isfinite(example.log_gain)) return;
  example.log_gain = rounded_gain(example.log_gain);
  if (!nonsense_of(transition, example).empty()) return;
  std::vector<TransitionExample>& best = examples_[transition];
  const auto known = std::ranges::find(best, example.family, &TransitionExample::family);
  if (known == best.end()) {
    best.push_back(std::move(example));
  } else if (is_better(example, *known)) {
    *known = std::move(example);
  }
  std::ranges::sort(best, is_better);
  if (best.size() > kMostExamples) best.pop_back();
}

void ExampleTable::merge(const ExampleTable& other) {
  for (const auto& [transition, examples] : other.examples_) {
    for (const TransitionExample& example : examples)
      add(transition, example);
  }
}

std::size_t ExampleTable::size() const {
  std::size_t count = 0;
  for (const auto& [transition, examples] : examples_)
    count += examples.size();
  return count;
}

std::string ExampleTable::text() const {
  std::string result = std::string(kExampleHeader) + '\n';
  for (const auto& [transition, examples] : examples_) {
    for (const TransitionExample& example : examples)
      result += example_text(transition, example);
  }
  return result;
}

Result<ExampleTable> ExampleTable::parse(std::string_view text, std::string_view name) {
  ExampleTable table;
  const Status read =
      read_table_lines(text, name, {kExampleHeader, "examples"},
                       [&](std::string_view line) { return read_example_line(line, table); });
  if (!read) return read.error();
  return table;
}

ExampleTable examples_of(const SearchOutcome& outcome, const RunDigest& digest) {
  ExampleTable table;
  if (digest.derived) return table;
  const std::string run = digest.run();
  const std::string original = outcome.states.front().candidate->identity.hex();
  for (const AttemptRecord& attempt : outcome.attempts) {
    if (!attempt.verified || !attempt.child || attempt.repeats) continue;
    if (attempt.log_gain < kLeastExampleGain) continue;
    TransitionExample example;
    example.before = outcome.states[attempt.parent].candidate->source;
    example.after = outcome.states[*attempt.child].candidate->source;
    example.log_gain = attempt.log_gain;
    example.method = digest.method;
    example.device = digest.device;
    example.name = digest.kernel;
    example.kernel = original;
    example.family = digest.family;
    example.run = run;
    table.add({attempt.from, attempt.step.step}, std::move(example));
  }
  return table;
}

StepGraph with_examples(StepGraph graph, const ExampleTable& table) {
  for (const StepGraph::TransitionView& view : graph.transitions())
    static_cast<void>(graph.set_examples(view.from, view.to, {}));
  for (const auto& [transition, examples] : table.examples())
    static_cast<void>(graph.set_examples(transition.first, transition.second, examples));
  return graph;
}

}  // namespace regraph::learn
