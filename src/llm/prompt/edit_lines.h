// Lines of edits, and how messages speak of them. Private to the answer parser.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace regraph::llm {

inline constexpr std::size_t kQuoted = 100;  // most bytes of a line in a message

// What is wrong with an edit (parse).
[[nodiscard]] Error wrong_edit(std::string what);

// A line as messages quote it.
[[nodiscard]] std::string quoted(std::string_view line);

// Without trailing blanks and line break: what lines are compared by.
[[nodiscard]] std::string_view without_end(std::string_view line);

// Without its indentation; empty where all lines are blank.
[[nodiscard]] std::string_view first_visible_line(std::string_view text);

// Takes the next line off `text`, which is not empty, and returns it with its "\n".
[[nodiscard]] std::string_view take_line(std::string_view& text);

}  // namespace regraph::llm
