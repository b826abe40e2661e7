#include "regraph/graph_example.h"

#include <memory>
#include <string>
#include <utility>

namespace regraph {

namespace {

// The text, too: versions of the program may differ in what an identity is made of.
bool is_of(const TransitionExample& example, const Candidate& original,
           const Candidate& candidate) {
  return example.kernel == original.identity.hex() || example.before == original.source ||
         example.before == candidate.source;
}

std::shared_ptr<const Candidate> only_source(const std::string& source) {
  Candidate candidate;
  candidate.source = source;
  return std::make_shared<const Candidate>(std::move(candidate));
}

}  // namespace

std::optional<StepExample> graph_example(const StepGraph& graph, std::string_view from,
                                         std::string_view step, const ExampleReader& reader) {
  const Transition* transition = graph.transition(from, step);
  if (transition == nullptr) return std::nullopt;
  const TransitionExample* best = nullptr;
  for (const TransitionExample& example : transition->examples) {
    if (is_of(example, reader.original, reader.candidate)) continue;
    const bool nearer =
        best != nullptr && best->device != reader.device && example.device == reader.device;
    if (best == nullptr || nearer) best = &example;
  }
  if (best == nullptr) return std::nullopt;
  return StepExample{std::string(from), only_source(best->before), only_source(best->after),
                     best->log_gain, best->name};
}

}  // namespace regraph
