#include "llm/chat/chat.h"

#include "base/hash.h"

#include <nlohmann/json.hpp>

namespace regraph::llm {

const char* name(Role role) {
  switch (role) {
    case Role::system:
      return "system";
    case Role::user:
      return "user";
    case Role::assistant:
      return "assistant";
  }
  return "?";
}

const char* name(FinishReason reason) {
  switch (reason) {
    case FinishReason::stop:
      return "stop";
    case FinishReason::length:
      return "length";
    case FinishReason::content_filter:
      return "content_filter";
    case FinishReason::other:
      return "other";
  }
  return "?";
}

const char* name(ChatFailure failure) {
  switch (failure) {
    case ChatFailure::unreachable:
      return "unreachable";
    case ChatFailure::unauthorised:
      return "unauthorised";
    case ChatFailure::unknown_model:
      return "unknown_model";
    case ChatFailure::rejected:
      return "rejected";
    case ChatFailure::overloaded:
      return "overloaded";
    case ChatFailure::timed_out:
      return "timed_out";
    case ChatFailure::malformed:
      return "malformed";
    case ChatFailure::over_budget:
      return "over_budget";
    case ChatFailure::not_recorded:
      return "not_recorded";
    case ChatFailure::cancelled:
      return "cancelled";
  }
  return "?";
}

bool is_permanent(ChatFailure failure) {
  return failure == ChatFailure::unauthorised || failure == ChatFailure::unknown_model ||
         failure == ChatFailure::over_budget;
}

TokenUsage& TokenUsage::operator+=(const TokenUsage& other) {
  prompt_tokens += other.prompt_tokens;
  cached_tokens += other.cached_tokens;
  completion_tokens += other.completion_tokens;
  reasoning_tokens += other.reasoning_tokens;
  reported = reported && other.reported;
  return *this;
}

std::string request_key(const ChatRequest& request) {
  // nlohmann::json sorts the members of an object, so its dump is canonical.
  nlohmann::json canonical;
  canonical["format"] = "regraph-chat/1";
  canonical["model"] = request.model;
  canonical["messages"] = nlohmann::json::array();
  for (const ChatMessage& message : request.messages) {
    canonical["messages"].push_back({{"role", name(message.role)}, {"text", message.text}});
  }
  if (request.temperature) canonical["temperature"] = *request.temperature;
  if (request.seed) canonical["seed"] = *request.seed;
  canonical["max_tokens"] = request.max_tokens;
  canonical["choices"] = request.choices;
  if (request.json_schema) canonical["json_schema"] = *request.json_schema;
  if (!request.reasoning_effort.empty()) canonical["reasoning_effort"] = request.reasoning_effort;
  if (request.reasoning_tokens > 0) canonical["reasoning_tokens"] = request.reasoning_tokens;
  const std::string text = canonical.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return hash_text(text).hex();
}

}  // namespace regraph::llm
