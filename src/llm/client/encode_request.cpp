#include "llm/client/encode_request.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace regraph::llm {
namespace {

using OrderedJson = nlohmann::ordered_json;

Status check(const ChatRequest& request) {
  const auto refuse = [](const char* why) { return fail(ErrorCode::invalid_argument, why); };
  if (request.messages.empty()) return refuse("a request to a language model has no messages");
  if (request.temperature && !std::isfinite(*request.temperature))
    return refuse("the temperature of a request to a language model is no number");
  if (request.max_tokens < 0)
    return refuse("a request to a language model has a negative limit of tokens");
  if (request.choices < 1) return refuse("a request to a language model asks for no answer");
  return {};
}

Result<OrderedJson> response_format(const std::string& schema, JsonFormat format) {
  OrderedJson parsed = OrderedJson::parse(schema, nullptr, false);
  if (!parsed.is_object())
    return fail(ErrorCode::invalid_argument, "the schema of an answer is not a JSON object");
  if (format == JsonFormat::json_object) return OrderedJson{{"type", "json_object"}};
  return OrderedJson{
      {"type", "json_schema"},
      {"json_schema", {{"name", "answer"}, {"strict", true}, {"schema", std::move(parsed)}}}};
}

}  // namespace

Result<std::string> encode_request(const ChatRequest& request, const ServerDialect& dialect) {
  if (Status status = check(request); !status.ok()) return status.error();
  OrderedJson body;
  body["model"] = request.model;
  body["messages"] = OrderedJson::array();
  for (const ChatMessage& message : request.messages)
    body["messages"].push_back({{"role", name(message.role)}, {"content", message.text}});
  if (request.temperature && dialect.temperature) body["temperature"] = *request.temperature;
  if (request.seed && dialect.seed) body["seed"] = *request.seed;
  if (request.max_tokens > 0 && dialect.token_limit == TokenLimitField::max_tokens)
    body["max_tokens"] = request.max_tokens;
  if (request.max_tokens > 0 && dialect.token_limit == TokenLimitField::max_completion_tokens)
    body["max_completion_tokens"] = request.max_tokens;
  if (request.choices > 1 && dialect.several_choices) body["n"] = request.choices;
  if (request.json_schema && dialect.json_format != JsonFormat::none) {
    auto format = response_format(*request.json_schema, dialect.json_format);
    if (!format.ok()) return format.error();
    body["response_format"] = std::move(*format);
  }
  body["stream"] = false;
  return body.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace regraph::llm
