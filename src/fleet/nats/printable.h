// What a server says, fit for people's eyes.
#pragma once

#include <string>
#include <string_view>

namespace regraph::fleet {

// Its beginning, with '?' for what is not ASCII or would steer a terminal.
[[nodiscard]] inline std::string printable(std::string_view text) {
  constexpr std::size_t kMost = 200;
  std::string shown(text.substr(0, kMost));
  for (char& character : shown)
    if (character < ' ' || character > '~') character = '?';
  return shown;
}

}  // namespace regraph::fleet
