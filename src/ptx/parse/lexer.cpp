#include "ptx/parse/lexer.h"

#include <bit>
#include <cstdlib>
#include <string>

namespace regraph::ptx {
namespace {

bool is_word_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%' ||
         c == '.';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

void Lexer::skip_blank() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    const char following = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (c == '\n') {
      ++line_;
      ++at_;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
      ++at_;
    } else if (c == '/' && following == '/') {
      while (at_ < text_.size() && text_[at_] != '\n')
        ++at_;
    } else if (c == '/' && following == '*') {
      at_ += 2;
      while (at_ < text_.size() &&
             !(text_[at_] == '*' && at_ + 1 < text_.size() && text_[at_ + 1] == '/')) {
        if (text_[at_] == '\n') ++line_;
        ++at_;
      }
      at_ = at_ + 2 < text_.size() ? at_ + 2 : text_.size();
    } else {
      return;
    }
  }
}

Token Lexer::number() {
  Token token{Token::Kind::integer, {}, 0, line_};
  const std::size_t begin = at_;
  const char second = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
  const auto read_digits = [&](int base) {
    while (at_ < text_.size()) {
      const int digit = hex_value(text_[at_]);
      if (digit < 0 || digit >= base) break;
      token.bits = token.bits * static_cast<std::uint64_t>(base) + static_cast<unsigned>(digit);
      ++at_;
    }
  };
  if (text_[at_] == '0' && (second == 'f' || second == 'F' || second == 'd' || second == 'D')) {
    const bool single = second == 'f' || second == 'F';
    token.kind = single ? Token::Kind::real32 : Token::Kind::real64;
    at_ += 2;
    const std::size_t digits = at_;
    read_digits(16);
    if (at_ - digits != (single ? 8U : 16U)) token.kind = Token::Kind::invalid;
  } else if (text_[at_] == '0' && (second == 'x' || second == 'X')) {
    at_ += 2;
    read_digits(16);
  } else if (text_[at_] == '0' && (second == 'b' || second == 'B')) {
    at_ += 2;
    read_digits(2);
  } else {
    read_digits(text_[at_] == '0' && is_digit(second) ? 8 : 10);
    if (at_ < text_.size() && text_[at_] == '.' && at_ + 1 < text_.size() &&
        is_digit(text_[at_ + 1])) {
      ++at_;
      while (at_ < text_.size() && is_digit(text_[at_]))
        ++at_;
      // A literal of more digits than this is not a number anyone wrote.
      constexpr std::size_t kLongestReal = 64;
      if (at_ - begin > kLongestReal) {
        token.kind = Token::Kind::invalid;
      } else {
        token.kind = Token::Kind::real64;
        token.bits = std::bit_cast<std::uint64_t>(
            std::strtod(std::string(text_.substr(begin, at_ - begin)).c_str(), nullptr));
      }
    }
  }
  if (token.kind == Token::Kind::integer && at_ < text_.size() && text_[at_] == 'U') ++at_;
  token.text = text_.substr(begin, at_ - begin);
  return token;
}

Token Lexer::next() {
  skip_blank();
  if (at_ >= text_.size()) return Token{Token::Kind::end, {}, 0, line_};
  const std::size_t begin = at_;
  const int line = line_;
  const char c = text_[at_];
  if (is_digit(c)) return number();
  if (is_word_start(c)) {
    const bool directive = c == '.';  // `.reg.b16 x` is two words, `ld.b16` is one
    ++at_;
    while (at_ < text_.size() && !(directive && text_[at_] == '.')) {
      if (is_word_start(text_[at_]) || is_digit(text_[at_])) {
        ++at_;
      } else if (text_[at_] == ':' && at_ + 1 < text_.size() && text_[at_ + 1] == ':') {
        at_ += 2;  // .L1::no_allocate
      } else {
        break;
      }
    }
    return Token{Token::Kind::word, text_.substr(begin, at_ - begin), 0, line};
  }
  if (c == '"') {
    ++at_;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '\n') ++line_;
      ++at_;
    }
    const std::string_view content = text_.substr(begin + 1, at_ - begin - 1);
    if (at_ >= text_.size()) return Token{Token::Kind::invalid, content, 0, line};
    ++at_;
    return Token{Token::Kind::string, content, 0, line};
  }
  ++at_;
  return Token{Token::Kind::punctuation, text_.substr(begin, 1), 0, line};
}

}  // namespace regraph::ptx
