// Answers that are JSON.
#pragma once

#include "base/result.h"
#include "llm/chat/chat.h"

#include <nlohmann/json_fwd.hpp>

namespace regraph::llm {

// Returns the JSON value of an answer: all of its text, or its only fenced block of JSON. Reasoning
// in front is skipped. At most 64 KiB. Errors (parse): as answer_text and parse_strict_json, no
// JSON, several blocks of it.
[[nodiscard]] Result<nlohmann::json> read_json_answer(const ChatChoice& choice);

}  // namespace regraph::llm
