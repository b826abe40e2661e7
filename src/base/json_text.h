// JSON from strangers: bounded, and errors as values.
#pragma once

#include "base/result.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace regraph {

// What a reader takes at most.
struct JsonLimits {
  std::size_t bytes = std::size_t{64} << 20;
  std::size_t depth = 16;  // arrays and objects in each other
};

// Errors: resource (more than `limits`), parse (not UTF-8, not JSON).
[[nodiscard]] Result<nlohmann::ordered_json> parse_json(std::string_view text,
                                                        const JsonLimits& limits);

// On one line. Bytes that are not UTF-8 are replaced by U+FFFD.
[[nodiscard]] std::string json_line(const nlohmann::ordered_json& json);

}  // namespace regraph
