// Answers that change what was shown by search and replace:
//
//   <<<<<<< SEARCH
//   lines that stand in the code that was shown
//   =======
//   lines to put in their place
//   >>>>>>> REPLACE
//
// Nothing is guessed: an edit whose place is not certain is an error that says so.
#pragma once

#include "base/result.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::llm {

// Lines, each ending in "\n"; a carriage return in front of it is left out.
struct CodeEdit {
  std::string search;
  std::string replace;  // empty: the lines are deleted
};

struct EditAnswer {
  std::vector<CodeEdit> edits;  // in the order of the answer
  std::string rest;             // the answer without them, fences included
};

// Whether a line of `text` begins a block of search and replace, well formed or not. Linear.
[[nodiscard]] bool holds_edits(std::string_view text);

// Takes the blocks out of `text`; what stands around them does not matter. Trailing blanks behind a
// marker are ignored. Linear. Errors (parse) name the block by its number and first line: no
// block, more than 64, one that does not end, whose markers are spelt otherwise or stand in each
// other, with nothing to search for, or with both sides equal.
[[nodiscard]] Result<EditAnswer> read_edits(std::string_view text);

// Returns `shown` with all edits made. Each is looked for in `shown` itself, whole lines without
// regard to trailing blanks and carriage returns, and must stand there exactly once; lines that no
// edit touches stay byte for byte. Linear, for each of the edits. Errors (parse), in words for a
// model: an edit found never (with the line that differs from one in white space alone, if that
// is why) or several times, edits that overlap.
[[nodiscard]] Result<std::string> apply_edits(std::string_view shown,
                                              std::span<const CodeEdit> edits);

}  // namespace regraph::llm
