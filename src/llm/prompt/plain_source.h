// Source text whose characters mean what they seem to: no tricks below the level of tokens.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace regraph::llm {

// Returns `source` with lines that end in "\n". Linear. What comes back can be cut into tokens
// (source/lexer.h) in linear time, and the compiler will see the same tokens and comments. Errors
// (parse), with the line: longer than `limit` bytes, NUL or other control characters, invalid
// UTF-8, trigraphs, a backslash before the end of a line that could join two halves of a token
// (those that continue a #define after a blank or bracket are fine), a backslash outside of
// literals and comments, more raw strings than a kernel can need, literals and comments that do not
// end.
[[nodiscard]] Result<std::string> plain_source(std::string_view source, std::size_t limit);

}  // namespace regraph::llm
