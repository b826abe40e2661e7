// Splits PTX text into words, numbers and punctuation. Keeps no token: memory does not grow with
// input.
#pragma once

#include <cstdint>
#include <string_view>

namespace regraph::ptx {

struct Token {
  enum class Kind : std::uint8_t {
    end,
    word,     // ld.global.f32, %r1, $L__BB0_1, .reg, __local_depot0
    integer,  // bits holds the value
    real32,   // 0f...: bits holds the pattern
    real64,   // 0d... or 1.0: bits holds the pattern
    string,
    punctuation,  // text holds the one character
    invalid,
  };
  Kind kind = Kind::end;
  std::string_view text;
  std::uint64_t bits = 0;
  int line = 1;

  [[nodiscard]] bool is(char c) const { return kind == Kind::punctuation && text[0] == c; }
  [[nodiscard]] bool is_word(std::string_view word) const {
    return kind == Kind::word && text == word;
  }
};

class Lexer {
 public:
  // `text` must outlive the lexer and its tokens.
  explicit Lexer(std::string_view text) : text_(text) {}
  // Returns the next token; `end` for ever after the last one.
  [[nodiscard]] Token next();

 private:
  void skip_blank();
  Token number();

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
};

}  // namespace regraph::ptx
