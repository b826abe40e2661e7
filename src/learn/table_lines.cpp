#include "learn/table_lines.h"

#include <fmt/format.h>

namespace regraph::learn {

Status read_table_lines(std::string_view text, std::string_view name, const TableKind& kind,
                        const std::function<std::string(std::string_view)>& read_row) {
  if (text.empty()) return fail(ErrorCode::parse, fmt::format("{}:1: the file is empty", name));
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    std::string wrong;
    if (end == std::string_view::npos) {
      wrong = "the line is cut off";
    } else if (number > 1) {
      wrong = read_row(line);
    } else if (line != kind.header) {
      wrong = fmt::format("not a table of {}, or another version's (its first line is not '{}')",
                          kind.content, kind.header);
    }
    if (!wrong.empty())
      return fail(ErrorCode::parse, fmt::format("{}:{}: {}", name, number, wrong));
  }
  return {};
}

}  // namespace regraph::learn
