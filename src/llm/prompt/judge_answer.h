// What a judge says about a candidate.
#pragma once

#include "base/result.h"
#include "llm/chat/chat.h"
#include "llm/prompt/json_schema.h"
#include "llm/prompt/step_answer.h"
#include "regraph/step_graph.h"

#include <string>

namespace regraph::llm {

// Why a candidate fails. Each is one line.
struct CorrectionAdvice {
  std::string critical_issue;
  std::string where;
  std::string minimal_fix;
  // The three in words, for RepairInputs::advice.
  [[nodiscard]] std::string text() const;
};

// What limits a candidate, the step that addresses it, and what to change.
struct OptimisationAdvice {
  std::string bottleneck;
  NamedStep step;
  std::string change;
};

// Read the answers to prompts of the kinds judge_correction and judge_optimisation, checked against
// the prompt's `schema`. Errors (parse): no JSON of that form; for the second a step without a
// usable name.
[[nodiscard]] Result<CorrectionAdvice> parse_correction(const ChatChoice& choice,
                                                        const JsonSchema& schema);
[[nodiscard]] Result<OptimisationAdvice> parse_optimisation(const ChatChoice& choice,
                                                            const JsonSchema& schema,
                                                            const StepGraph& graph);

}  // namespace regraph::llm
