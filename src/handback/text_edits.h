// Replacements in a text of the user's, in its own style of lines.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::handback {

// Bytes [begin, end) become `text`; where both are the same it is put in.
struct TextEdit {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string text;
};

// The text with all edits, which must not overlap; of two at one place the first comes first.
[[nodiscard]] std::string apply_edits(std::string_view text, std::vector<TextEdit> edits);

// The text with the line ends that `like` has.
[[nodiscard]] std::string with_line_ends_of(std::string_view like, std::string_view text);

// The white space that the line of this byte begins with; nothing where more stands before it.
[[nodiscard]] std::string indentation_at(std::string_view text, std::size_t byte);

// The text with that in front of each of its lines but the first, empty ones and directives aside.
[[nodiscard]] std::string indented(std::string_view text, std::string_view indentation);

// Where further #include lines may stand: behind the last one outside of conditionals and
// braces, else behind the comments that the file begins with.
[[nodiscard]] std::size_t place_for_includes(std::string_view text);

}  // namespace regraph::handback
