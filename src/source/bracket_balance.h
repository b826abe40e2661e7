// Whether text that was cut into tokens is what it seems to be.
#pragma once

#include "source/lexer.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::source {

// Whether all literals and comments end, and nothing but blanks and comments stands between tokens.
[[nodiscard]] bool is_plain_text(std::string_view text, const std::vector<Token>& tokens);

// Brackets and conditionals of one declaration; alternative branches begin at the same depth.
class BracketBalance {
 public:
  // Takes the next token in; returns whether it fits what came before.
  [[nodiscard]] bool take(std::string_view token, TokenKind kind);
  // Whether no bracket is open.
  [[nodiscard]] bool at_top() const { return open_.empty(); }
  // Whether no bracket and no conditional is open.
  [[nodiscard]] bool is_even() const { return open_.empty() && at_branch_.empty(); }

 private:
  bool take_directive(std::string_view name);

  std::string open_;  // the closing brackets that are to come, the next one last
  std::vector<std::size_t> at_branch_;
};

}  // namespace regraph::source
