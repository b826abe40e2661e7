// Foreign text made fit for a prompt: clean, bounded and, where it is long, fenced off as data.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace regraph::llm {

// Returns `text` as UTF-8 without bytes that are not (each becomes "?"), carriage returns, and
// control characters other than newline and tab.
[[nodiscard]] std::string clean_text(std::string_view text);

// As clean_text, on one line: every run of white space becomes one blank. At most `limit` bytes;
// what is cut ends in "...".
[[nodiscard]] std::string one_line(std::string_view text, std::size_t limit);

// Returns at most `limit` bytes of `text`, whole lines where there are any, and says on a line of
// its own how many bytes were left out.
[[nodiscard]] std::string cut_text(std::string_view text, std::size_t limit);

// Fences `text` off as data, cleaned and cut to `limit` bytes:
//
//   [begin candidate 5f0c9a21d3e8]
//   ...
//   [end candidate 5f0c9a21d3e8]
//
// The marker is derived from a hash of the text, and anew until the text does not hold it, so text
// cannot end its own fence. Equal texts give equal bytes. `label` is a plain word or two.
[[nodiscard]] std::string fenced(std::string_view label, std::string_view text, std::size_t limit);

}  // namespace regraph::llm
