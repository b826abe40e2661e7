#include "llm/prompt/edit_lines.h"

#include "llm/prompt/prompt_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace regraph::llm {

Error wrong_edit(std::string what) {
  return fail(ErrorCode::parse, std::move(what));
}

std::string quoted(std::string_view line) {
  return fmt::format("\"{}\"", one_line(line, kQuoted));
}

// Without trailing blanks: what lines are compared by.
std::string_view without_end(std::string_view line) {
  const std::size_t last = line.find_last_not_of(" \t\r\n");
  return last == std::string_view::npos ? std::string_view() : line.substr(0, last + 1);
}

std::string_view first_visible_line(std::string_view text) {
  const std::size_t visible = text.find_first_not_of(" \t\r\n");
  if (visible == std::string_view::npos) return {};
  return text.substr(visible, text.find('\n', visible) - visible);
}

// Takes the next line off `text`, its "\n" included.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end);
  return line;
}

}  // namespace regraph::llm
