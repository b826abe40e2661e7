// The best verified applications of each transition that searches found, code before and after:
// what a trained ReGraph shows language models. A table is what is best of a set, so tables can be
// put together in any order and as often as one likes: the same bytes come out.
#pragma once

#include "base/result.h"
#include "learn/run_digest.h"
#include "regraph/step_graph.h"
#include "regraph/transition_example.h"
#include "search/outcome.h"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace regraph::learn {

// Of files that hold a table.
inline constexpr const char* kExamplesEnding = ".examples";
// What an application has to bring to be shown, as log-gain: less teaches nothing.
inline constexpr double kLeastExampleGain = 0.05;

class ExampleTable {
 public:
  // The step before ("init" at the original) and the step.
  using Transition = std::pair<std::string, std::string>;

  // Takes an example that may be shown; it stays while it is the best of its family, and its family
  // one of the best kMostExamples. Gains are rounded to units of 2^-11.
  void add(const Transition& transition, TransitionExample example);
  void merge(const ExampleTable& other);

  // The best first.
  [[nodiscard]] const std::map<Transition, std::vector<TransitionExample>>& examples() const {
    return examples_;
  }
  [[nodiscard]] std::size_t size() const;

  // As text, a line of JSON an example, sorted: equal tables have equal bytes.
  [[nodiscard]] std::string text() const;
  // Errors are "name:line: what is wrong" (parse). Any bytes are safe to pass.
  [[nodiscard]] static Result<ExampleTable> parse(std::string_view text, std::string_view name);

 private:
  std::map<Transition, std::vector<TransitionExample>> examples_;
};

// What a search has to show; `digest` is its own. Nothing of a kernel that was made from another.
[[nodiscard]] ExampleTable examples_of(const SearchOutcome& outcome, const RunDigest& digest);

// `graph` with these examples instead of its own. Those of transitions that it does not have are
// left out.
[[nodiscard]] StepGraph with_examples(StepGraph graph, const ExampleTable& table);

}  // namespace regraph::learn
