// The answer of an OpenAI-compatible server, read without trusting it.
#pragma once

#include "base/result.h"
#include "llm/chat/chat.h"
#include "llm/client/server_error.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::llm {

struct DecodedAnswer {
  std::vector<ChatChoice> choices;  // at least one
  TokenUsage usage;                 // reported is false, and all zero, where the server is silent
  std::string model;                // may be empty
};

// Why a body with status 200 is no answer.
struct UndecodedAnswer {
  std::string why;                   // what is wrong with it; empty where `error` says it
  std::optional<ServerError> error;  // the body is an error all the same
  TokenUsage usage;                  // what was paid, where the body says it
};

// Reads a body. Takes content as text, as null and as a list of parts; reasoning under the names
// that vLLM, SGLang, DeepSeek, llama.cpp, Ollama and OpenRouter use; finish reasons of other
// servers; any number of choices of which those without a message are left out. All texts of the
// result are UTF-8.
[[nodiscard]] Result<DecodedAnswer, UndecodedAnswer> decode_answer(std::string_view body);

}  // namespace regraph::llm
