// How servers that call themselves OpenAI-compatible differ in what they accept.
#pragma once

#include <cstdint>
#include <optional>

namespace regraph::llm {

// A parameter of a request that servers are known to refuse.
enum class RequestParameter : std::uint8_t {
  temperature,
  seed,
  max_tokens,
  max_completion_tokens,
  response_format,
  n,
  reasoning_effort,
  reasoning,
};
// Returns the name in the protocol, e.g. "response_format".
[[nodiscard]] const char* name(RequestParameter parameter);

enum class TokenLimitField : std::uint8_t { max_tokens, max_completion_tokens, none };
enum class JsonFormat : std::uint8_t {
  json_schema,  // the server is given the schema
  json_object,  // only that it must be JSON: the prompt has to describe it
  none,         // nothing: likewise
};

// How a server is told how much a reasoning model may think.
enum class ReasoningField : std::uint8_t {
  effort,  // "reasoning_effort": a word
  object,  // "reasoning": {"effort": a word, "max_tokens": a number}
  none,
};

// What is sent. The default is what most servers take; the client learns from refusals.
struct ServerDialect {
  TokenLimitField token_limit = TokenLimitField::max_tokens;
  JsonFormat json_format = JsonFormat::json_schema;
  bool temperature = true;
  bool seed = true;
  bool several_choices = true;  // "n"; false: one request a choice
  ReasoningField reasoning = ReasoningField::effort;
  bool operator==(const ServerDialect&) const = default;
};

// Returns the dialect without `parameter`, or with the next weaker form of it (max_tokens and
// max_completion_tokens replace each other once: `tried_other_limit`). Nothing if it does not send
// the parameter any more.
[[nodiscard]] std::optional<ServerDialect> without(const ServerDialect& dialect,
                                                   RequestParameter parameter,
                                                   bool tried_other_limit);

}  // namespace regraph::llm
