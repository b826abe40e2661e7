// Worked examples in a prompt.
#pragma once

#include "llm/prompt/prompt_inputs.h"

#include <string>
#include <string_view>

namespace regraph::llm {

// Returns how `before` became `after`, device code both, fenced off as data: both whole where
// together they have at most limits.whole_example bytes, or where that is no longer than the other
// form, a unified diff with three lines around each change. #line directives are left out.
[[nodiscard]] std::string change_text(std::string_view before, std::string_view after,
                                      const PromptLimits& limits);

}  // namespace regraph::llm
