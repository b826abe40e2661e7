// Lists of things that have a name and a description, as options and help texts want them.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

namespace regraph::cli {

// "auto (gpu if ...), gpu (measured ...)"
template <typename Kinds>
[[nodiscard]] std::string described(const Kinds& kinds) {
  std::string text;
  for (const auto& kind : kinds)
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", kind.name, kind.description);
  return text;
}

template <typename Kinds>
[[nodiscard]] std::vector<std::string> names(const Kinds& kinds) {
  std::vector<std::string> result;
  for (const auto& kind : kinds)
    result.emplace_back(kind.name);
  return result;
}

}  // namespace regraph::cli
