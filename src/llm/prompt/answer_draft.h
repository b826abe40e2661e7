// What an answer with code says, before any of it is checked. Private to the answer parser.
#pragma once

#include "base/result.h"
#include "llm/prompt/launch_change.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace regraph::llm {

// What is wrong with an answer.
[[nodiscard]] inline Error unusable(std::string what) {
  return {ErrorCode::parse, std::move(what)};
}

struct AnswerDraft {
  std::string code;
  std::optional<LaunchChange> launch;
  std::string notes;

  // Takes a launch plan in. Errors (parse): one that cannot be read, or that differs from the one
  // that is there.
  [[nodiscard]] Status add_launch(std::string_view text);
};

// Finds code and launch in `text` (answer_text). `kernel` chooses among several blocks of code.
// Linear. Errors (parse): no code, a refusal, a block or object that does not end, several codes or
// launches that differ.
[[nodiscard]] Result<AnswerDraft> draft_of(std::string_view text, const std::string& kernel);

}  // namespace regraph::llm
