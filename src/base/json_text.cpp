#include "base/json_text.h"

#include "base/utf8.h"

#include <fmt/format.h>

#include <algorithm>

namespace regraph {
namespace {

constexpr std::size_t kQuotedError = 200;  // bytes of what the parser says

// How deep brackets nest, looked at before memory is spent on them: each costs far more than its
// byte.
std::size_t nesting_of(std::string_view text) {
  std::size_t depth = 0;
  std::size_t deepest = 0;
  bool quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted) {
      if (c == '\\') ++at;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return deepest;
}

}  // namespace

Result<nlohmann::ordered_json> parse_json(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.bytes) {
    return fail(ErrorCode::resource,
                fmt::format("{} bytes of JSON where {} are the limit", text.size(), limits.bytes));
  }
  if (const auto invalid = find_invalid_utf8(text))
    return fail(ErrorCode::parse, fmt::format("not UTF-8 at byte {}", *invalid));
  if (nesting_of(text) > limits.depth)
    return fail(ErrorCode::resource, fmt::format("JSON nests deeper than {}", limits.depth));
  try {
    return nlohmann::ordered_json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    return fail(ErrorCode::parse, "not JSON: " + std::string(error.what()).substr(0, kQuotedError));
  }
}

std::string json_line(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace regraph
