// A ChatRequest as the JSON that OpenAI-compatible servers take at /v1/chat/completions.
#pragma once

#include "base/result.h"
#include "llm/chat/chat.h"
#include "llm/client/server_dialect.h"

#include <string>

namespace regraph::llm {

// Returns the body of the POST. Bytes of messages that are not UTF-8 become U+FFFD. Streaming is
// off. Errors: invalid_argument (no messages, a temperature that is no number, a negative limit,
// fewer than one choice, a schema that is not a JSON object).
[[nodiscard]] Result<std::string> encode_request(const ChatRequest& request,
                                                 const ServerDialect& dialect);

}  // namespace regraph::llm
