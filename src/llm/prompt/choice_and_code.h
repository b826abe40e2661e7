// An answer that holds a choice of steps and the first of them applied.
#pragma once

#include "base/result.h"
#include "llm/chat/chat.h"

#include <optional>

namespace regraph::llm {

struct ChoiceAndCode {
  ChatChoice steps;                // the list alone, for parse_steps
  std::optional<ChatChoice> code;  // what is left, for AnswerParser; none where nothing is
};

// Splits an answer to a prompt of the kind `together`: the list stands in a fenced block called
// "steps", else in the first block of JSON that holds the key "steps", else it is the whole answer.
// Linear. Error (parse): the answer cannot be read, or there is no list.
[[nodiscard]] Result<ChoiceAndCode> split_choice(const ChatChoice& choice);

}  // namespace regraph::llm
