// Texts that travel: a line of JSON, then bytes as they are.
#pragma once

#include "base/result.h"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace regraph::fleet {

// The source of a kernel need not be UTF-8, so it is not put into JSON.
struct TextParts {
  nlohmann::ordered_json head;
  std::string_view body;
};

[[nodiscard]] std::string join_parts(const nlohmann::ordered_json& head, std::string_view body);

// The body is a part of `text`. Errors: parse (no object in front), resource (it is too long or
// nests too deep).
[[nodiscard]] Result<TextParts> split_parts(std::string_view text);

}  // namespace regraph::fleet
