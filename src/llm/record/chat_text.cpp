#include "llm/record/chat_text.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>

namespace regraph::llm {

namespace {

using Json = nlohmann::json;

constexpr int kRoles = 3;
constexpr int kFinishReasons = 4;
constexpr int kFailures = static_cast<int>(ChatFailure::cancelled) + 1;

template <typename Enum>
std::optional<Enum> enum_of(const Json& json, const char* key, int count) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_string()) return std::nullopt;
  const auto& text = found->get_ref<const std::string&>();
  for (int index = 0; index < count; ++index) {
    if (text == name(static_cast<Enum>(index))) return static_cast<Enum>(index);
  }
  return std::nullopt;
}

std::optional<std::string> text_of(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

// 0 when absent or no whole number that fits.
template <typename Integer>
Integer integer_of(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number_integer()) return 0;
  if (found->is_number_unsigned() &&
      found->get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<Integer>::max()))
    return 0;
  const auto value = found->get<std::int64_t>();
  if (value < 0 || value > std::numeric_limits<Integer>::max()) return 0;
  return static_cast<Integer>(value);
}

}  // namespace

Json usage_json(const TokenUsage& usage) {
  return {{"prompt_tokens", usage.prompt_tokens},
          {"cached_tokens", usage.cached_tokens},
          {"completion_tokens", usage.completion_tokens},
          {"reasoning_tokens", usage.reasoning_tokens},
          {"reported", usage.reported}};
}

TokenUsage read_usage(const Json& json) {
  TokenUsage usage;
  const auto found = json.find("usage");
  if (found == json.end() || !found->is_object()) return usage;
  usage.prompt_tokens = integer_of<std::int64_t>(*found, "prompt_tokens");
  usage.cached_tokens = integer_of<std::int64_t>(*found, "cached_tokens");
  usage.completion_tokens = integer_of<std::int64_t>(*found, "completion_tokens");
  usage.reasoning_tokens = integer_of<std::int64_t>(*found, "reasoning_tokens");
  const auto reported = found->find("reported");
  usage.reported = reported != found->end() && reported->is_boolean() && reported->get<bool>();
  return usage;
}

Json request_json(const ChatRequest& request) {
  Json json = {{"model", request.model},
               {"max_tokens", request.max_tokens},
               {"choices", request.choices},
               {"messages", Json::array()}};
  for (const ChatMessage& message : request.messages)
    json["messages"].push_back({{"role", name(message.role)}, {"text", message.text}});
  if (request.temperature) json["temperature"] = *request.temperature;
  if (request.seed) json["seed"] = *request.seed;
  if (request.json_schema) json["json_schema"] = *request.json_schema;
  if (!request.reasoning_effort.empty()) json["reasoning_effort"] = request.reasoning_effort;
  if (request.reasoning_tokens > 0) json["reasoning_tokens"] = request.reasoning_tokens;
  return json;
}

Json answer_json(const ChatAnswer& answer) {
  Json json = {{"model", answer.model},
               {"seconds", answer.seconds},
               {"attempts", answer.attempts},
               {"usage", usage_json(answer.usage)},
               {"choices", Json::array()}};
  for (const ChatChoice& choice : answer.choices) {
    Json entry = {{"text", choice.text}, {"finish", name(choice.finish)}};
    if (!choice.refusal.empty()) entry["refusal"] = choice.refusal;
    if (!choice.reasoning.empty()) entry["reasoning"] = choice.reasoning;
    json["choices"].push_back(std::move(entry));
  }
  return json;
}

Json error_json(const ChatError& error) {
  return {{"failure", name(error.failure)},
          {"message", error.message},
          {"attempts", error.attempts},
          {"usage", usage_json(error.usage)}};
}

std::optional<ChatRequest> read_request(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  const auto model = text_of(json, "model");
  const auto messages = json.find("messages");
  if (!model || messages == json.end() || !messages->is_array()) return std::nullopt;
  ChatRequest request;
  request.model = *model;
  request.max_tokens = integer_of<int>(json, "max_tokens");
  request.choices = integer_of<int>(json, "choices");
  for (const Json& entry : *messages) {
    if (!entry.is_object()) return std::nullopt;
    const auto role = enum_of<Role>(entry, "role", kRoles);
    auto text = text_of(entry, "text");
    if (!role || !text) return std::nullopt;
    request.messages.push_back({*role, std::move(*text)});
  }
  const auto temperature = json.find("temperature");
  if (temperature != json.end() && temperature->is_number())
    request.temperature = temperature->get<double>();
  const auto seed = json.find("seed");
  if (seed != json.end() && seed->is_number_integer()) request.seed = seed->get<std::int64_t>();
  request.json_schema = text_of(json, "json_schema");
  request.reasoning_effort = text_of(json, "reasoning_effort").value_or("");
  request.reasoning_tokens = integer_of<int>(json, "reasoning_tokens");
  return request;
}

std::optional<ChatAnswer> read_answer(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  const auto choices = json.find("choices");
  if (choices == json.end() || !choices->is_array() || choices->empty()) return std::nullopt;
  ChatAnswer answer;
  answer.model = text_of(json, "model").value_or("");
  answer.attempts = integer_of<int>(json, "attempts");
  const auto seconds = json.find("seconds");
  if (seconds != json.end() && seconds->is_number()) {
    const double value = seconds->get<double>();
    answer.seconds = std::isfinite(value) && value >= 0.0 ? value : 0.0;
  }
  answer.usage = read_usage(json);
  for (const Json& entry : *choices) {
    if (!entry.is_object()) return std::nullopt;
    auto text = text_of(entry, "text");
    if (!text) return std::nullopt;
    ChatChoice choice;
    choice.text = std::move(*text);
    choice.refusal = text_of(entry, "refusal").value_or("");
    choice.reasoning = text_of(entry, "reasoning").value_or("");
    choice.finish =
        enum_of<FinishReason>(entry, "finish", kFinishReasons).value_or(FinishReason::other);
    answer.choices.push_back(std::move(choice));
  }
  return answer;
}

std::optional<ChatError> read_error(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  const auto failure = enum_of<ChatFailure>(json, "failure", kFailures);
  if (!failure) return std::nullopt;
  return ChatError{*failure, text_of(json, "message").value_or(""),
                   integer_of<int>(json, "attempts"), read_usage(json)};
}

std::string compact_text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json parse_compact(const std::string& text) {
  constexpr int kDeepest = 8;
  const auto shallow = [](int depth, Json::parse_event_t, Json&) { return depth <= kDeepest; };
  Json json = Json::parse(text, shallow, false);
  return json.is_discarded() ? Json() : json;
}

}  // namespace regraph::llm
