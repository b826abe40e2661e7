// Requests, answers and failures as JSON text: the form of stores and recordings.
#pragma once

#include "llm/chat/chat.h"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>

namespace regraph::llm {

// Every field by its name. The readers return nothing for JSON of another form; unknown members
// are ignored.
[[nodiscard]] nlohmann::json request_json(const ChatRequest& request);
[[nodiscard]] nlohmann::json answer_json(const ChatAnswer& answer);
[[nodiscard]] nlohmann::json error_json(const ChatError& error);
[[nodiscard]] std::optional<ChatRequest> read_request(const nlohmann::json& json);
[[nodiscard]] std::optional<ChatAnswer> read_answer(const nlohmann::json& json);
[[nodiscard]] std::optional<ChatError> read_error(const nlohmann::json& json);

// Tokens as JSON, and those of the member "usage" of an object; what is absent is 0.
[[nodiscard]] nlohmann::json usage_json(const TokenUsage& usage);
[[nodiscard]] TokenUsage read_usage(const nlohmann::json& json);

// The text of one JSON value, bytes that are not UTF-8 replaced.
[[nodiscard]] std::string compact_text(const nlohmann::json& json);
// Null for anything that is not JSON, or nested deeper than what is written here.
[[nodiscard]] nlohmann::json parse_compact(const std::string& text);

}  // namespace regraph::llm
