// Which steps a model names.
#pragma once

#include "base/result.h"
#include "llm/chat/chat.h"
#include "llm/prompt/json_schema.h"
#include "regraph/step_graph.h"

#include <string>
#include <string_view>
#include <vector>

namespace regraph::llm {

struct NamedStep {
  std::string id;             // of the ReGraph; of a new step made from its name
  std::string name;           // as the model wrote it, on one line
  bool is_new = false;        // the ReGraph has no such step: kept as data
  StepParameters parameters;  // of known steps those that the step allows
  std::string why;            // one line
  // The steps of a leap, each of them without parameters; of other steps none.
  std::vector<NamedStep> plan;
  bool operator==(const NamedStep&) const = default;
};

inline constexpr std::size_t kLongestPlan = 5;

// Relabels a name to the step that `graph` knows by it, by id, name or alias. Another name becomes
// a new step: its id is the name in lower case with underscores, at most 48 characters. Nothing
// (an empty id) when the name has no letter or means the initial state.
[[nodiscard]] NamedStep relabelled(std::string_view name, const StepGraph& graph);

// Reads the answer to a prompt of the kind `propose`, {"steps": [{"step", "why", "plan",
// "parameters"}]} or the list alone, checked against `schema`. Parameters are a list of names and
// values, or an object of them; numbers are taken as text. Steps keep their order, those with equal
// id, parameters and plan are one, the first `limit` count. A leap without a plan of two different
// steps is the step that is left of it, or nothing; one of more than kLongestPlan is cut. Errors
// (parse): no JSON of that form. An empty list is an answer.
[[nodiscard]] Result<std::vector<NamedStep>> parse_steps(const ChatChoice& choice,
                                                         const JsonSchema& schema,
                                                         const StepGraph& graph, std::size_t limit);

}  // namespace regraph::llm
