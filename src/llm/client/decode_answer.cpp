#include "llm/client/decode_answer.h"

#include "base/utf8.h"
#include "llm/client/json_fields.h"

#include <fmt/format.h>

namespace regraph::llm {
namespace {

using Json = nlohmann::json;

FinishReason finish_of(const std::string& word) {
  for (const char* stop : {"stop", "eos", "eos_token", "stop_sequence", "end_turn"})
    if (word == stop) return FinishReason::stop;
  for (const char* length : {"length", "max_tokens", "model_length"})
    if (word == length) return FinishReason::length;
  if (word == "content_filter") return FinishReason::content_filter;
  return FinishReason::other;
}

// "text", or [{"type": "text", "text": "text"}, ...]: parts of other types go elsewhere or nowhere.
std::string joined_text(const Json& content) {
  if (content.is_string()) return content.get<std::string>();
  std::string text;
  if (!content.is_array()) return text;
  for (const Json& part : content) {
    if (part.is_string()) {
      text += part.get<std::string>();
      continue;
    }
    const std::string type = text_field(part, "type");
    if (type.empty() || type == "text" || type == "output_text") text += text_field(part, "text");
  }
  return text;
}

// Mistral: parts of the type "thinking".
std::string thinking_parts(const Json& content) {
  std::string text;
  if (!content.is_array()) return text;
  for (const Json& part : content)
    if (text_field(part, "type") == "thinking") text += joined_text(field(part, "thinking"));
  return text;
}

std::string refusal_parts(const Json& content) {
  std::string text;
  if (!content.is_array()) return text;
  for (const Json& part : content)
    if (text_field(part, "type") == "refusal") text += text_field(part, "refusal");
  return text;
}

std::optional<ChatChoice> read_choice(const Json& choice) {
  ChatChoice result;
  result.finish = finish_of(text_field(choice, "finish_reason"));
  const Json& message = field(choice, "message");
  if (!message.is_object()) {
    // The older protocol without chat, which some servers answer with.
    if (!field(choice, "text").is_string()) return std::nullopt;
    result.text = text_field(choice, "text");
    return result;
  }
  const Json& content = field(message, "content");
  result.text = joined_text(content);
  result.refusal = text_field(message, "refusal");
  if (result.refusal.empty()) result.refusal = refusal_parts(content);
  for (const char* name : {"reasoning_content", "reasoning", "thinking"}) {
    if (result.reasoning.empty()) result.reasoning = joined_text(field(message, name));
  }
  if (result.reasoning.empty()) result.reasoning = thinking_parts(content);
  return result;
}

TokenUsage read_usage(const Json& usage) {
  TokenUsage result;
  if (!usage.is_object()) return result;
  result.prompt_tokens = count_of(field(usage, "prompt_tokens"));
  result.completion_tokens = count_of(field(usage, "completion_tokens"));
  result.cached_tokens = count_of(field(field(usage, "prompt_tokens_details"), "cached_tokens"));
  if (result.cached_tokens == 0)  // DeepSeek
    result.cached_tokens = count_of(field(usage, "prompt_cache_hit_tokens"));
  result.reasoning_tokens =
      count_of(field(field(usage, "completion_tokens_details"), "reasoning_tokens"));
  if (result.reasoning_tokens == 0)  // SGLang
    result.reasoning_tokens = count_of(field(usage, "reasoning_tokens"));
  result.cached_tokens = std::min(result.cached_tokens, result.prompt_tokens);
  result.reasoning_tokens = std::min(result.reasoning_tokens, result.completion_tokens);
  result.reported = result.prompt_tokens > 0 || result.completion_tokens > 0;
  return result;
}

bool says_error(const Json& value) {
  const Json& error = field(value, "error");
  return (error.is_object() && !error.empty()) ||
         (error.is_string() && !error.get_ref<const std::string&>().empty());
}

}  // namespace

Result<DecodedAnswer, UndecodedAnswer> decode_answer(std::string_view body) {
  if (const auto at = find_invalid_utf8(body))
    return UndecodedAnswer{fmt::format("the answer is not UTF-8 at byte {}", *at), {}, {}};
  const Json parsed = Json::parse(body, nullptr, false);
  if (parsed.is_discarded()) {
    return UndecodedAnswer{body.empty() ? "the answer is empty" : "the answer is not JSON", {}, {}};
  }
  DecodedAnswer answer;
  answer.usage = read_usage(field(parsed, "usage"));
  answer.model = text_field(parsed, "model");
  std::optional<ServerError> error;
  const Json& choices = field(parsed, "choices");
  if (choices.is_array()) {
    for (const Json& choice : choices) {
      auto read = read_choice(choice);
      // OpenRouter: the server behind it broke off; what came before is no answer.
      if (says_error(choice)) {
        error = read_server_error(field(choice, "error"));
      } else if (read) {
        answer.choices.push_back(std::move(*read));
      }
    }
  }
  if (!answer.choices.empty()) return answer;
  if (says_error(parsed)) error = read_server_error(field(parsed, "error"));
  if (error) return UndecodedAnswer{.why = "", .error = std::move(error), .usage = answer.usage};
  // An error of an older vLLM and of some gateways.
  if (text_field(parsed, "object") == "error")
    return UndecodedAnswer{.why = "", .error = read_server_error(parsed), .usage = answer.usage};
  return UndecodedAnswer{.why = choices.is_array()
                                    ? "the answer has no choice with a message"
                                    : "the answer is JSON, but not of the chat protocol",
                         .error = std::nullopt,
                         .usage = answer.usage};
}

}  // namespace regraph::llm
