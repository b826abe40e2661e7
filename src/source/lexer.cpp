#include "source/lexer.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <utility>

namespace regraph::source {
namespace {

bool starts_identifier(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool continues_identifier(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> run() {
    bool line_is_blank = true;  // so far: only then may a directive begin
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        advance(1);
        line_is_blank = true;
      } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
        advance(1);
      } else if (c == '\\' && peek(1) == '\n') {
        advance(2);
      } else if (!skip_comment()) {
        lex_token(c == '#' && line_is_blank);
        line_is_blank = false;
      }
    }
    return std::move(tokens_);
  }

 private:
  [[nodiscard]] char peek(std::size_t ahead) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  void advance(std::size_t count) {
    for (const std::size_t end = std::min(at_ + count, text_.size()); at_ < end; ++at_) {
      if (text_[at_] == '\n') ++line_;
    }
  }

  void advance_to(std::size_t place) { advance(std::min(place, text_.size()) - at_); }

  bool skip_comment() {
    if (peek(0) != '/') return false;
    if (peek(1) == '/') {
      advance_to(end_of_line());
      return true;
    }
    if (peek(1) != '*') return false;
    const std::size_t end = text_.find("*/", at_ + 2);
    advance_to(end == std::string_view::npos ? text_.size() : end + 2);
    return true;
  }

  // The place of the newline that ends this line, continuations followed.
  [[nodiscard]] std::size_t end_of_line() const {
    std::size_t end = text_.find('\n', at_);
    while (end != std::string_view::npos) {
      std::size_t last = end;
      if (last > at_ && text_[last - 1] == '\r') --last;
      if (last == at_ || text_[last - 1] != '\\') break;
      end = text_.find('\n', end + 1);
    }
    return std::min(end, text_.size());
  }

  // A directive ends with its line, but a comment in it may reach further.
  void skip_directive() {
    while (at_ < text_.size() && text_[at_] != '\n') {
      if (text_[at_] == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'))) {
        advance(peek(1) == '\n' ? 2 : 3);
      } else if (peek(0) == '/' && peek(1) == '/') {
        advance_to(end_of_line());
      } else if (peek(0) == '"') {
        skip_literal('"');
      } else if (!skip_comment()) {
        advance(1);
      }
    }
  }

  void skip_literal(char quote) {
    advance(1);
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') {
      advance(text_[at_] == '\\' ? 2 : 1);
    }
    if (at_ < text_.size() && text_[at_] == quote) advance(1);
  }

  // R"delimiter( ... )delimiter"
  void skip_raw_string() {
    const std::size_t open = text_.find('(', at_);
    constexpr std::size_t kLongestDelimiter = 16;
    if (open == std::string_view::npos || open - at_ > kLongestDelimiter + 1) {
      skip_literal('"');
      return;
    }
    std::string closing = ")";
    closing += text_.substr(at_ + 1, open - at_ - 1);
    closing += '"';
    const std::size_t end = text_.find(closing, open);
    advance_to(end == std::string_view::npos ? text_.size() : end + closing.size());
  }

  void lex_token(bool directive) {
    Token token;
    token.begin = static_cast<std::uint32_t>(at_);
    token.line = line_;
    const char c = text_[at_];
    if (directive) {
      token.kind = TokenKind::directive;
      skip_directive();
    } else if (starts_identifier(c)) {
      token.kind = TokenKind::identifier;
      std::size_t end = at_;
      while (end < text_.size() && continues_identifier(text_[end]))
        ++end;
      const std::string_view name = text_.substr(at_, end - at_);
      advance_to(end);
      constexpr std::array<std::string_view, 5> kRawPrefixes = {"R", "LR", "uR", "UR", "u8R"};
      if (peek(0) == '"' &&
          std::find(kRawPrefixes.begin(), kRawPrefixes.end(), name) != kRawPrefixes.end()) {
        token.kind = TokenKind::text;
        skip_raw_string();
      }
    } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
      token.kind = TokenKind::number;
      lex_number();
    } else if (c == '"' || c == '\'') {
      token.kind = TokenKind::text;
      skip_literal(c);
    } else {
      advance(punctuation_length());
    }
    token.end = static_cast<std::uint32_t>(at_);
    tokens_.push_back(token);
  }

  void lex_number() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const bool exponent_sign = (c == '+' || c == '-') &&
                                 std::string_view("eEpP").find(text_[at_ - 1]) != std::string::npos;
      const bool separator = c == '\'' && continues_identifier(peek(1));
      if (!continues_identifier(c) && c != '.' && !exponent_sign && !separator) break;
      advance(1);
    }
  }

  [[nodiscard]] std::size_t punctuation_length() const {
    for (const std::string_view several : {"<<<", ">>>", "::", "->"}) {
      if (text_.substr(at_, several.size()) == several) return several.size();
    }
    return 1;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokenize(std::string_view text) {
  return Lexer(text).run();
}

}  // namespace regraph::source
