// What a ReGraph has to show of a transition to a search that has seen none itself.
#pragma once

#include "kernel/candidate.h"
#include "regraph/expander.h"
#include "regraph/step_graph.h"

#include <optional>
#include <string_view>

namespace regraph {

// Who is to be shown an example.
struct ExampleReader {
  const Candidate& original;  // of its search
  const Candidate& candidate;
  std::string_view device;
};

// The best example that `graph` has of `step` right after `from`, one of the reader's device before
// others. Nothing where there is none but of the reader's own kernel: no kernel is shown what was
// found on itself.
[[nodiscard]] std::optional<StepExample> graph_example(const StepGraph& graph,
                                                       std::string_view from, std::string_view step,
                                                       const ExampleReader& reader);

}  // namespace regraph
