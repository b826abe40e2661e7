// Observations, digests and sibling groups made by hand.
#pragma once

#include "learn/example_table.h"
#include "learn/observation_table.h"
#include "learn/run_digest.h"
#include "regraph/step_graph.h"

#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace regraph::learn::examples {

// A try of a step at the original of a kernel.
inline ObservationRow observation(const std::string& family, const std::string& kernel,
                                  const std::string& state, const std::string& step,
                                  FixedScore gain) {
  ObservationRow row;
  row.device = "h200";
  row.method = "predicted";
  row.family = family;
  row.kernel = kernel;
  row.run = "run";
  row.parent = state;
  row.from = "init";
  row.step = step;
  row.verified = true;
  row.gain = gain;
  return row;
}

inline ObservationRow failed(ObservationRow row, const std::string& reason) {
  row.verified = false;
  row.gain = 0;
  row.reason = reason;
  return row;
}

// Few values a column, so that random tables share rows.
inline ObservationRow random_observation(std::mt19937_64& random) {
  const auto one_of = [&](std::vector<std::string> texts) {
    return texts[random() % texts.size()];
  };
  ObservationRow row = observation(one_of({"map", "sum"}), one_of({"k1", "k2"}),
                                   one_of({"s1", "s2"}), one_of({"swap", "tile", "a\tb\\n\n"}),
                                   static_cast<FixedScore>(random() % 4000) - 2000);
  row.device = one_of({"a100", "h200"});
  row.method = one_of({"measured", "predicted"});
  row.from = one_of({"init", "swap"});
  row.setting = one_of({"", "factor=2"});
  if (random() % 4 == 0) row = failed(row, one_of({"refused", "wrong_result"}));
  if (random() % 2 == 0) row.gain = row.verified ? 100 : 0;
  return row;
}

inline ObservationTable random_table(std::mt19937_64& random, std::size_t rows) {
  ObservationTable table;
  for (std::size_t count = random() % (rows + 1); count > 0; --count)
    table.add(random_observation(random));
  return table;
}

// Few values a field, so that random tables share examples, families and gains.
inline std::pair<ExampleTable::Transition, TransitionExample> random_example(
    std::mt19937_64& random) {
  const auto one_of = [&](std::vector<std::string> texts) {
    return texts[random() % texts.size()];
  };
  TransitionExample example;
  example.before = one_of({"b", "b\"\n\t", "\\u0000 {"});
  example.after = one_of({"a", "longer", "\xc3\xa9\n"});
  example.log_gain = 0.1 * static_cast<double>(1 + random() % 4);
  example.method = random() % 4 == 0 ? TimeMethod::measured : TimeMethod::predicted;
  example.device = one_of({"a100", "h200"});
  example.name = one_of({"f", ""});
  example.kernel = one_of({"k1", "k2"});
  example.family = one_of({"map", "sum", "scan", "sort", "gather"});
  example.run = one_of({"r1", "r2"});
  return {ExampleTable::Transition(one_of({"init", "swap"}), one_of({"tile", "odd \"step\"\n"})),
          std::move(example)};
}

inline ExampleTable random_example_table(std::mt19937_64& random, std::size_t most) {
  ExampleTable table;
  for (std::size_t count = random() % (most + 1); count > 0; --count) {
    auto [transition, example] = random_example(random);
    table.add(transition, std::move(example));
  }
  return table;
}

inline Step described(const std::string& id) {
  Step step;
  step.id = id;
  step.name = "the " + id;
  step.what = "what";
  step.legality = "always";
  step.instruction = "do it";
  step.rewriter = true;
  return step;
}

// Steps "swap" and "tile", of which swapping first was published.
inline StepGraph small_graph() {
  StepGraph graph;
  static_cast<void>(graph.add_step(described("swap")));
  static_cast<void>(graph.add_step(described("tile")));
  static_cast<void>(graph.add_transition("init", "swap", {6.0, 2.0, {}}));
  static_cast<void>(graph.add_transition("swap", "tile", {1.5, 1.0, {}}));
  return graph;
}

// A state with a proposal for each of `steps`, none of them tried.
inline DigestState digest_state(std::uint32_t id, double log_speedup,
                                const std::vector<std::string>& steps) {
  DigestState state;
  state.id = id;
  state.identity = "state" + std::to_string(id);
  state.view.log_speedup = log_speedup;
  for (const std::string& step : steps)
    state.view.proposals.push_back({step, {}, 1});
  state.view.after.resize(steps.size());
  return state;
}

inline DigestEdge leads(std::size_t proposal, std::uint32_t child, double log_gain,
                        bool repeats = false) {
  return {proposal, 0, child, true, log_gain, repeats, ""};
}

inline DigestEdge fails(std::size_t proposal, const std::string& reason = "wrong_result") {
  return {proposal, 0, std::nullopt, false, 0.0, false, reason};
}

inline RunDigest digest(const std::string& kernel, const std::string& family,
                        std::vector<DigestState> states) {
  RunDigest result;
  result.kernel = "scale";
  result.kernel_hash = kernel;
  result.family = family;
  result.label = "mcgs";
  result.device = "h200";
  result.program = "1.2.3";
  result.states = std::move(states);
  return result;
}

}  // namespace regraph::learn::examples
