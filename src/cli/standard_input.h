// All of standard input.
#pragma once

#include <cstdio>
#include <string>

namespace regraph::cli {

// Until its end.
[[nodiscard]] inline std::string standard_input() {
  std::string text;
  char buffer[1 << 16];
  for (std::size_t count = 0; (count = std::fread(buffer, 1, sizeof buffer, stdin)) > 0;)
    text.append(buffer, count);
  return text;
}

}  // namespace regraph::cli
