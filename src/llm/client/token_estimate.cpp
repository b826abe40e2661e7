#include "llm/client/token_estimate.h"

namespace regraph::llm {
namespace {

// Chat templates put a role and separators around a message.
constexpr std::int64_t kTokensAroundMessage = 4;

}  // namespace

std::int64_t estimate_tokens(std::string_view text) {
  return (static_cast<std::int64_t>(text.size()) + 2) / 3;
}

std::int64_t estimate_prompt_tokens(const ChatRequest& request) {
  std::int64_t tokens = 0;
  for (const ChatMessage& message : request.messages)
    tokens += kTokensAroundMessage + estimate_tokens(message.text);
  return tokens;
}

std::int64_t estimate_completion_tokens(const std::vector<ChatChoice>& choices) {
  std::int64_t tokens = 0;
  for (const ChatChoice& choice : choices)
    tokens += estimate_tokens(choice.text) + estimate_tokens(choice.refusal) +
              estimate_tokens(choice.reasoning);
  return tokens;
}

}  // namespace regraph::llm
