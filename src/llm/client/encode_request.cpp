#include "llm/client/encode_request.h"

#include <nlohmann/json.hpp>

#include <algorithm>
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

// Leaves out what servers that enforce schemas do not know, or refuse; an answer is held to it when
// it is read.
void keep_portable_keywords(OrderedJson& schema) {
  if (schema.is_array()) {
    for (OrderedJson& one : schema)
      keep_portable_keywords(one);
  }
  if (!schema.is_object()) return;
  for (const char* keyword :
       {"minLength", "maxLength", "minItems", "maxItems", "maxProperties", "description"}) {
    // A property may have such a name; then it is a schema.
    if (schema.contains(keyword) && !schema[keyword].is_object()) schema.erase(keyword);
  }
  for (auto& [key, value] : schema.items())
    keep_portable_keywords(value);
}

// Whether all objects have a fixed set of members, all required: what "strict" needs.
bool can_be_strict(const OrderedJson& schema) {
  if (schema.is_array())
    return std::ranges::all_of(schema, [](const OrderedJson& one) { return can_be_strict(one); });
  if (!schema.is_object()) return true;
  if (schema.value("type", OrderedJson()) == "object") {
    const auto properties = schema.find("properties");
    const auto required = schema.find("required");
    const std::size_t names = properties == schema.end() ? 0 : properties->size();
    const std::size_t needed = required == schema.end() ? 0 : required->size();
    if (names != needed || schema.value("additionalProperties", OrderedJson(false)) != false)
      return false;
  }
  for (const auto& [key, value] : schema.items()) {
    if (!can_be_strict(value)) return false;
  }
  return true;
}

Result<OrderedJson> response_format(const std::string& schema, JsonFormat format) {
  OrderedJson parsed = OrderedJson::parse(schema, nullptr, false);
  if (!parsed.is_object())
    return fail(ErrorCode::invalid_argument, "the schema of an answer is not a JSON object");
  if (format == JsonFormat::json_object) return OrderedJson{{"type", "json_object"}};
  keep_portable_keywords(parsed);
  const bool strict = can_be_strict(parsed);
  return OrderedJson{
      {"type", "json_schema"},
      {"json_schema", {{"name", "answer"}, {"strict", strict}, {"schema", std::move(parsed)}}}};
}

// Both or either, as far as the server can be told.
void add_reasoning(const ChatRequest& request, const ServerDialect& dialect, OrderedJson& body) {
  const bool effort = !request.reasoning_effort.empty();
  if (dialect.reasoning == ReasoningField::effort && effort)
    body["reasoning_effort"] = request.reasoning_effort;
  if (dialect.reasoning != ReasoningField::object) return;
  // A limit in tokens says more than a word, and servers take only one of the two.
  if (request.reasoning_tokens > 0) {
    body["reasoning"] = {{"max_tokens", request.reasoning_tokens}};
  } else if (effort) {
    body["reasoning"] = {{"effort", request.reasoning_effort}};
  }
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
  add_reasoning(request, dialect, body);
  body["stream"] = false;
  return body.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace regraph::llm
