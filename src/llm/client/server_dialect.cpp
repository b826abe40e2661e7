#include "llm/client/server_dialect.h"

namespace regraph::llm {

const char* name(RequestParameter parameter) {
  switch (parameter) {
    case RequestParameter::temperature:
      return "temperature";
    case RequestParameter::seed:
      return "seed";
    case RequestParameter::max_tokens:
      return "max_tokens";
    case RequestParameter::max_completion_tokens:
      return "max_completion_tokens";
    case RequestParameter::response_format:
      return "response_format";
    case RequestParameter::n:
      return "n";
    case RequestParameter::reasoning_effort:
      return "reasoning_effort";
    case RequestParameter::reasoning:
      return "reasoning";
  }
  return "?";
}

std::optional<ServerDialect> without(const ServerDialect& dialect, RequestParameter parameter,
                                     bool tried_other_limit) {
  ServerDialect weaker = dialect;
  switch (parameter) {
    case RequestParameter::temperature:
      weaker.temperature = false;
      break;
    case RequestParameter::seed:
      weaker.seed = false;
      break;
    case RequestParameter::max_tokens:
      if (dialect.token_limit == TokenLimitField::max_tokens)
        weaker.token_limit =
            tried_other_limit ? TokenLimitField::none : TokenLimitField::max_completion_tokens;
      break;
    case RequestParameter::max_completion_tokens:
      if (dialect.token_limit == TokenLimitField::max_completion_tokens)
        weaker.token_limit =
            tried_other_limit ? TokenLimitField::none : TokenLimitField::max_tokens;
      break;
    case RequestParameter::response_format:
      weaker.json_format = dialect.json_format == JsonFormat::json_schema ? JsonFormat::json_object
                                                                          : JsonFormat::none;
      break;
    case RequestParameter::n:
      weaker.several_choices = false;
      break;
    case RequestParameter::reasoning_effort:
    case RequestParameter::reasoning:
      weaker.reasoning = ReasoningField::none;
      break;
  }
  if (weaker == dialect) return std::nullopt;
  return weaker;
}

}  // namespace regraph::llm
