// The values that placeholders stand for. Private to the prompt library.
#pragma once

#include "llm/prompt/prompt_inputs.h"
#include "llm/prompt/prompt_template.h"

#include <string>
#include <vector>

namespace regraph::llm {

// kernel.*, candidate.*, device and counters; those that the evidence of `step` (may be null)
// names come first.
void add_state(const PromptState& state, const Step* step, const PromptLimits& limits,
               PromptValues& values);

// step.*
void add_step(const Step& step, const StepParameters& parameters, const PromptLimits& limits,
              PromptValues& values);

// step.reason
void add_reason(const std::string& reason, const PromptLimits& limits, PromptValues& values);

// failing.* and parent.*, and the values of add_state: of the parent or, with
// `failing_is_candidate` as prompts of format 1 have it, of the candidate that fails.
void add_failing(const PromptState& failing, const PromptState& parent, const Step* step,
                 bool failing_is_candidate, const PromptLimits& limits, PromptValues& values);

// A numbered line a step: name and how it is usually done.
[[nodiscard]] std::string plan_text(const std::vector<Step>& plan, const PromptLimits& limits);

// One line a step: "id: name. What it changes. Parameters: ...".
[[nodiscard]] std::string catalogue_text(const std::vector<const Step*>& catalogue,
                                         const PromptLimits& limits);

// Steps in the order they were applied, on one line; "none" when there are none.
[[nodiscard]] std::string done_text(const std::vector<std::string>& done,
                                    const PromptLimits& limits);

// The last few attempts, each a line of what went wrong and the message, fenced off.
[[nodiscard]] std::string failed_text(const std::vector<FailedAttempt>& failed,
                                      const PromptLimits& limits);

// Device code without what extraction added, fenced off as data.
[[nodiscard]] std::string source_text(std::string_view label, std::string_view source,
                                      std::size_t limit);

}  // namespace regraph::llm
