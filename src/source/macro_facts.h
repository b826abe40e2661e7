// What the macros of a text can do to its structure.
#pragma once

#include "source/lexer.h"

#include <set>
#include <string_view>
#include <vector>

namespace regraph::source {

// The macro that a #define or #undef names; empty for other directives.
[[nodiscard]] std::string_view macro_named_by(std::string_view directive);

// Whether the replacement of a #define pastes tokens together.
[[nodiscard]] bool pastes_tokens(std::string_view directive);

// Macros whose replacement, or that of a macro in it, holds braces, semicolons or ##: where one
// stands outside of brackets, it may declare anything. Views into `text`.
[[nodiscard]] std::set<std::string_view> declaring_macros(std::string_view text,
                                                          const std::vector<Token>& tokens);

}  // namespace regraph::source
