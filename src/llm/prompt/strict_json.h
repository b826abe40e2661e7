// JSON from somebody who is not trusted.
#pragma once

#include "base/result.h"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <string_view>

namespace regraph::llm {

struct JsonLimits {
  std::size_t bytes = 512 << 10;
  std::size_t depth = 16;      // objects and lists in each other
  std::size_t values = 10000;  // scalars, objects and lists
};

// Reads one JSON value that is all of `text`. Linear in its length; no recursion. Errors (parse):
// not JSON, with line and column; a key that is given twice; a limit that is passed. Comments and
// trailing commas are not JSON.
[[nodiscard]] Result<nlohmann::json> parse_strict_json(std::string_view text,
                                                       const JsonLimits& limits = {});

}  // namespace regraph::llm
