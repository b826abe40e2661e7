// Where a search stands, told to a model: how a state was come by, what was tried near it, what
// other states did, and how far its time is from the least that is possible.
#pragma once

#include "llm/prompt/prompt_inputs.h"

#include <string>

namespace regraph::llm {

// A step with its values, "smem_tile (depth = 32, loop = 1)"; of a step that the ReGraph does not
// know its name in words, of a leap its plan.
[[nodiscard]] std::string told_step(const StepProposal& step);

// "2.00x faster", "1.50x slower" or "no difference", of ln(time before / time after).
[[nodiscard]] std::string factor_text(double log_gain);

// What the fastest state so far takes, where that is another one than the candidate; else empty.
[[nodiscard]] std::string best_text(const PromptState& state);

// What the original takes; empty where that is not known.
[[nodiscard]] std::string original_text(const PromptState& state);

// A line a step from the original to the candidate: its time before and after, and by what factor.
// Empty for the original.
[[nodiscard]] std::string path_text(const PromptState& state);

// A line for each step that was tried at the candidate or on the way to it, the latest last: where,
// and what came of it. At most limits.tried of them.
[[nodiscard]] std::string tried_text(const PromptState& state, const PromptLimits& limits);

// A line for each state that the candidate may be combined with: number, steps, what they brought.
[[nodiscard]] std::string others_text(const PromptState& state, const PromptLimits& limits);

// How another state went from the common ancestor.
[[nodiscard]] std::string other_path_text(const OtherState& other, const PromptLimits& limits);

// The least time that its data and arithmetic leave possible, and how far the candidate's is from
// it. Empty unless the candidate is correct and that time known.
[[nodiscard]] std::string floor_text(const Evaluation& evaluation);

}  // namespace regraph::llm
