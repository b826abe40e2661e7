#include "llm/client/server_error.h"

#include "llm/client/json_fields.h"

#include <array>

namespace regraph::llm {
namespace {

using Json = nlohmann::json;

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

template <std::size_t N>
bool has_any(std::string_view text, const std::array<std::string_view, N>& parts) {
  for (const std::string_view part : parts)
    if (has(text, part)) return true;
  return false;
}

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

// Whether `word` stands in `text` with no letters around it.
bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string_view::npos; ++at) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_word_character(text[at - 1])) &&
        (end == text.size() || !is_word_character(text[end])))
      return true;
  }
  return false;
}

// A single letter is a name only in quotes: "n" is also what is left of "\n".
bool names(std::string_view text, std::string_view parameter) {
  if (parameter.size() > 1) return has_word(text, parameter);
  for (const char quote : {'\'', '"', '`'}) {
    if (has(text, quote + std::string(parameter) + quote)) return true;
  }
  return false;
}

ServerError only_message(std::string message) {
  ServerError error;
  error.message = std::move(message);
  return error;
}

std::string text_or_number(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_integer()) return value.dump();
  return "";
}

// FastAPI: [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]
ServerError read_details(const Json& details) {
  ServerError error;
  for (const Json& detail : details) {
    std::string where;
    for (const Json& part : field(detail, "loc")) {
      if (!part.is_string() || part == "body") continue;
      if (error.parameter.empty()) error.parameter = part.get<std::string>();
      where += (where.empty() ? "" : ".") + part.get<std::string>();
    }
    if (!error.message.empty()) error.message += "; ";
    error.message += where + ": " + text_field(detail, "msg");
  }
  return error;
}

}  // namespace

ServerError read_server_error(const Json& body) {
  if (body.is_string()) return only_message(body.get<std::string>());
  if (const Json& inner = field(body, "error"); inner.is_object() || inner.is_string())
    return read_server_error(inner);
  if (const Json& detail = field(body, "detail"); detail.is_array()) return read_details(detail);
  ServerError error;
  error.message = text_field(body, "message");
  if (error.message.empty()) error.message = text_field(body, "detail");
  // OpenRouter: what the server behind it said.
  if (const std::string raw = text_field(field(body, "metadata"), "raw"); !raw.empty())
    error.message += ": " + raw;
  error.code = text_or_number(field(body, "code"));
  error.type = text_field(body, "type");
  error.parameter = text_field(body, "param");
  if (const Json& code = field(body, "code"); code.is_number_integer()) {
    const std::int64_t status = count_of(code);
    if (status >= 400 && status <= 599) error.status = static_cast<int>(status);
  }
  if (error.message.empty())
    error.message = body.dump(-1, ' ', false, Json::error_handler_t::replace);
  return error;
}

ServerError read_server_error(std::string_view body) {
  const Json parsed = Json::parse(body, nullptr, false);
  if (parsed.is_object() || parsed.is_string()) return read_server_error(parsed);
  return only_message(std::string(body));
}

std::optional<RequestParameter> refused_parameter(int status, const ServerError& error) {
  if (status != 400 && status != 422 && status != 500 && status != 501) return std::nullopt;
  constexpr std::array<std::string_view, 10> kRefusals = {
      "unsupported",   "not supported", "does not support", "doesn't support", "not support",
      "not permitted", "not allowed",   "only the default", "input should be", "not compatible"};
  // Words that also stand in reports of a crash.
  constexpr std::array<std::string_view, 6> kWeakRefusals = {
      "unrecognized", "unknown", "unexpected", "unavailable", "not available", "not implemented"};
  const std::string message = lower(error.message);
  if (has(message, "only one completion choice")) return RequestParameter::n;
  const std::string code = lower(error.code);
  if (!has_any(message, kRefusals) && !has(code, "unsupported") &&
      !has(code, "unknown_parameter") && (status >= 500 || !has_any(message, kWeakRefusals)))
    return std::nullopt;
  constexpr std::array kAll = {
      RequestParameter::temperature,     RequestParameter::seed,
      RequestParameter::max_tokens,      RequestParameter::max_completion_tokens,
      RequestParameter::response_format, RequestParameter::reasoning_effort,
      RequestParameter::reasoning,       RequestParameter::n};
  const std::string parameter = lower(error.parameter);
  for (const RequestParameter candidate : kAll) {
    const std::string_view word = name(candidate);
    if (parameter == word || parameter.starts_with(std::string(word) + ".")) return candidate;
  }
  // A parameter that is not ours, such as "messages", is not to be looked for in the text.
  if (!parameter.empty() && parameter != "body") return std::nullopt;
  // "Use 'max_completion_tokens' instead" names both; the one that is refused comes first.
  const std::size_t instead = message.find("max_completion_tokens");
  const std::size_t limit = message.find("max_tokens");
  if (limit != std::string::npos && instead != std::string::npos)
    return limit < instead ? RequestParameter::max_tokens : RequestParameter::max_completion_tokens;
  for (const RequestParameter candidate : kAll)
    if (names(message, name(candidate))) return candidate;
  return std::nullopt;
}

bool says_unknown_model(const ServerError& error) {
  constexpr std::array<std::string_view, 6> kAbsent = {"not found",     "does not exist",
                                                       "not exist",     "unknown model",
                                                       "invalid model", "not a valid model"};
  const std::string code = lower(error.code);
  if (code == "model_not_found" || code == "invalid_model") return true;
  const std::string message = lower(error.message);
  return has_word(message, "model") && has_any(message, kAbsent);
}

bool says_out_of_credit(const ServerError& error) {
  constexpr std::array<std::string_view, 3> kWords = {"insufficient_quota", "insufficient balance",
                                                      "insufficient credits"};
  const std::string text = lower(error.code + " " + error.type + " " + error.message);
  return has_any(text, kWords);
}

}  // namespace regraph::llm
