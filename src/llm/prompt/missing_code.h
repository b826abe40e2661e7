// What is said of answers that hold no code.
#pragma once

#include "base/result.h"
#include "llm/prompt/code_language.h"

#include <string_view>

namespace regraph::llm {

// Why an answer whose text is `prose` beside blocks that are no code, perhaps a diff, cannot be
// used (parse), and which forms could: a refusal, code without a fence, nothing of use.
[[nodiscard]] Error missing_code(std::string_view prose, bool has_diff,
                                 const CodeLanguage& language);

}  // namespace regraph::llm
