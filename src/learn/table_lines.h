// Tables as text: a line that says what they are, then a line a row, each ended.
#pragma once

#include "base/result.h"

#include <functional>
#include <string>
#include <string_view>

namespace regraph::learn {

// What a text must be to be read as a table.
struct TableKind {
  std::string_view header;   // its first line
  std::string_view content;  // for messages: "observations"
};

// Calls `read_row` for each line but the first, in order; it returns what is wrong with a line, or
// nothing. Errors are "name:line: what is wrong" (parse), and reading stops there.
[[nodiscard]] Status read_table_lines(std::string_view text, std::string_view name,
                                      const TableKind& kind,
                                      const std::function<std::string(std::string_view)>& read_row);

}  // namespace regraph::learn
