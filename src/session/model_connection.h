// From options to a client of a language model's server.
#pragma once

#include "llm/client/chat_client.h"
#include "session/language_model_options.h"
#include "session/session_error.h"

#include <cstdint>
#include <memory>

namespace regraph {

// Reads key (OPENAI_API_KEY or a file) and proxies (http_proxy, ...); connects to nothing yet.
// `seed`: of the pauses between attempts. Errors: usage, internal.
[[nodiscard]] Result<std::unique_ptr<llm::ChatClient>, SessionError> connect_language_model(
    const LanguageModelOptions& options, std::uint64_t seed);

}  // namespace regraph
