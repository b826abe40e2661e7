// Cuts CUDA C++ text into tokens without preprocessing it, so that files which no compiler at hand
// accepts (missing headers, host code) can still be taken apart.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace regraph::source {

enum class TokenKind : std::uint8_t {
  identifier,  // keywords too
  number,
  text,         // string or character literal, raw strings included
  punctuation,  // one character, except "::", "<<<", ">>>" and "->"
  directive,    // a whole preprocessor line, continuations and trailing comment included
};

struct Token {
  TokenKind kind = TokenKind::punctuation;
  std::uint32_t begin = 0;  // byte offsets into the text
  std::uint32_t end = 0;
  std::uint32_t line = 1;  // 1-based, of the first byte

  [[nodiscard]] std::string_view in(std::string_view text) const {
    return text.substr(begin, end - begin);
  }
};

// Returns the tokens of `text` (at most 4 GiB); white space and comments are left out. Never fails:
// an unterminated comment or literal reaches to the end of its line or of the text.
[[nodiscard]] std::vector<Token> tokenize(std::string_view text);

}  // namespace regraph::source
