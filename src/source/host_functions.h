// Functions of a file's host code that are one expression: what a call of theirs stands for.
#pragma once

#include "source/lexer.h"

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::source {

struct HostFunction {
  std::vector<std::string> parameters;
  std::string value;  // over these, tokens one blank apart; quotients that are rounded up as such
};

using HostFunctions = std::map<std::string, HostFunction, std::less<>>;

// Functions "f(a, b) { return ...; }", lambdas of that form and macros with parameters, by name.
// A name with two meanings has none.
[[nodiscard]] HostFunctions host_functions(std::string_view source,
                                           const std::vector<Token>& tokens);

// Where the cast at a token ends, so that what it casts begins: "(int)", "static_cast<int>" and the
// type in "int(n)". The token itself where there is none, or one to a type that is no number.
[[nodiscard]] std::size_t behind_cast(std::string_view text, const std::vector<Token>& tokens,
                                      std::size_t at);

// The text without casts and without brackets around all of it; its tokens one blank apart.
[[nodiscard]] std::string without_casts(const std::string& text);

}  // namespace regraph::source
