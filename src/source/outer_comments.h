// Whose the comments between two declarations are.
#pragma once

#include <cstddef>
#include <string_view>

namespace regraph::source {

// Byte offsets into the text.
struct OuterComments {
  std::size_t tail_end = 0;    // end of those on the line of what stands in front
  std::size_t lead_begin = 0;  // where the line begins of those directly above what follows, or
                               // of what follows itself
  bool has_strays = false;     // others, which belong to nothing, or speak of a licence
  bool has_blank_line = false;
};

// Looks at bytes [begin, end) of `text`, blanks and comments that end. A comment belongs to what
// follows where no blank line stands between them, unless it or one directly above it holds
// "copyright", "license", "licence" or "SPDX". `is_first`: nothing stands in front; `is_last`:
// nothing follows. Linear.
[[nodiscard]] OuterComments outer_comments(std::string_view text, std::size_t begin,
                                           std::size_t end, bool is_first, bool is_last);

}  // namespace regraph::source
