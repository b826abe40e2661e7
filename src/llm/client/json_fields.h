// Reading JSON from servers, where any field may be missing or of another type.
#pragma once

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <string>

namespace regraph::llm {

// Returns the member `name` of `object`, or a null where there is none. Valid as long as `object`.
[[nodiscard]] inline const nlohmann::json& field(const nlohmann::json& object, const char* name) {
  static const nlohmann::json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(name);
  return found == object.end() ? kNull : *found;
}

// Returns the string member `name`, or "".
[[nodiscard]] inline std::string text_field(const nlohmann::json& object, const char* name) {
  const nlohmann::json& value = field(object, name);
  return value.is_string() ? value.get<std::string>() : std::string();
}

// Returns the number `value` as a count between 0 and 10^12 (sums must not overflow), else 0.
[[nodiscard]] inline std::int64_t count_of(const nlohmann::json& value) {
  constexpr double kMost = 1e12;
  if (!value.is_number()) return 0;
  return static_cast<std::int64_t>(std::clamp(value.get<double>(), 0.0, kMost));
}

}  // namespace regraph::llm
