// What an answer with code says, before any of it is checked. Private to the answer parser.
#pragma once

#include "base/result.h"
#include "kernel/launch_change.h"
#include "llm/prompt/answer_edits.h"
#include "llm/prompt/code_language.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace regraph::llm {

// What is wrong with an answer.
[[nodiscard]] inline Error unusable(std::string what) {
  return {ErrorCode::parse, std::move(what)};
}

struct AnswerDraft {
  std::string code;             // all of the device code; empty where there are edits
  std::vector<CodeEdit> edits;  // of what was shown
  bool keeps_code = false;      // only the launch changes
  std::optional<LaunchChange> launch;
  std::optional<std::string> declined;  // why not; counts where nothing else does
  std::string notes;

  // Takes a launch plan in. Errors (parse): one that cannot be read, or that differs from the one
  // that is there.
  [[nodiscard]] Status add_launch(std::string_view text);
};

// Finds code or edits, launch and decline in `text` (answer_text). `kernel` chooses among several
// blocks of code. Linear. Errors (parse): none of them, a refusal, a block or object that does not
// end, several codes or launches that differ, a launch
// apart from code that holds its own, edits beside a kernel, edits that read_edits rejects.
[[nodiscard]] Result<AnswerDraft> draft_of(std::string_view text, const std::string& kernel,
                                           const CodeLanguage& language = cuda_code());

}  // namespace regraph::llm
