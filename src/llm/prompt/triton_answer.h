// From an answer's draft to the whole text of a Triton kernel. Private to the answer parser.
#pragma once

#include "base/result.h"
#include "llm/prompt/answer_draft.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace regraph::llm {

// Returns module and comment (triton/kernel_text.h) that the draft stands for; `shown` is the text
// that the model was given. A comment may stand anywhere between the lines of the code; what it
// leaves out is as shown, and so is all of it where there is none, or the module where there is
// nothing but a comment; a constant that the module does not mention any more goes. What the search
// decides and a model does not (divisible, contract, choices) is as shown, whatever the answer
// says. Python reads the module, not this. Linear. Errors (parse): edits that cannot be made, over
// `limit` bytes, control characters, a comment over 8 KiB or that cannot be read, another kernel,
// signature or arguments, a module without the kernel.
[[nodiscard]] Result<std::string> triton_source(const AnswerDraft& draft, std::string_view shown,
                                                std::size_t limit);

}  // namespace regraph::llm
