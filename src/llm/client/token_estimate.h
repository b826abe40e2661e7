// How many tokens a text may be, before or without the server's count.
#pragma once

#include "llm/chat/chat.h"

#include <cstdint>
#include <string_view>

namespace regraph::llm {

// Returns about how many tokens `text` is: a third of its bytes, rounded up. Tokenizers take 3 to 4
// bytes of source code a token, so this errs to the safe side.
[[nodiscard]] std::int64_t estimate_tokens(std::string_view text);

// Returns about how many tokens the messages of `request` are, roles included.
[[nodiscard]] std::int64_t estimate_prompt_tokens(const ChatRequest& request);

// Returns about how many tokens `choices` are, reasoning included.
[[nodiscard]] std::int64_t estimate_completion_tokens(const std::vector<ChatChoice>& choices);

}  // namespace regraph::llm
