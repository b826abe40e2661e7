// What device code in an answer may not hold.
#pragma once

#include "base/result.h"

#include <string_view>

namespace regraph::llm {

// Checks `source`, which plain_source accepted, against the candidate `base` that it was made of.
// Whatever of the following stands in `base` in the same words is the user's own and may stay.
// Linear. Errors (parse) name what is wrong and where it can be told apart: brackets that do not
// match or nest deeper than 256; backticks; host code (main, <<< >>>, calls of the CUDA runtime or
// driver, thrust); inline assembly; #include of other than a few device headers; preprocessor lines
// other than define, undef, if..endif, error and #pragma unroll; __has_include, _Pragma and their
// kin; token pasting; digraphs; macros that redefine keywords, built-in names or reserved ones.
[[nodiscard]] Status check_code_rules(std::string_view source, std::string_view base);

}  // namespace regraph::llm
