#include "llm/record/json_lines.h"

#include "llm/record/chat_text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <unistd.h>

namespace regraph::llm {

Status write_line(int file, const nlohmann::json& json, const std::string& what) {
  const std::string line = compact_text(json) + "\n";
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t written = ::write(file, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0)
      return fail(ErrorCode::io, fmt::format("cannot write {}: {}", what, std::strerror(errno)));
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace regraph::llm
