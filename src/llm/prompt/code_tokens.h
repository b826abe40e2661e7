// Device code as tokens, the preprocessor's lines included.
#pragma once

#include <string_view>
#include <vector>

namespace regraph::llm {

// Returns the tokens of `text` as views into it. A preprocessor line is taken apart too: "#", then
// its tokens, then "\n"; #line directives, which say nothing about the code, are left out.
[[nodiscard]] std::vector<std::string_view> code_tokens(std::string_view text);

// Whether both have the same tokens: they differ in white space and comments at most.
[[nodiscard]] bool same_tokens(std::string_view a, std::string_view b);

// Whether a token is a name or keyword.
[[nodiscard]] bool is_name(std::string_view token);

}  // namespace regraph::llm
