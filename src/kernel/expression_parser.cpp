#include "kernel/expression_node.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <utility>

namespace regraph::expression_internal {

namespace {

// Grids and shapes are short; the limits keep hostile manifests from exhausting the stack.
constexpr std::size_t kMaximumLength = 4096;
constexpr int kMaximumNesting = 200;

bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<NodePointer> parse() {
    if (text_.size() > kMaximumLength) {
      return fail(ErrorCode::parse,
                  fmt::format("the expression is longer than {} characters", kMaximumLength));
    }
    NodePointer node = sum();
    skip_spaces();
    if (!error_ && position_ < text_.size()) complain("expected an operator or the end");
    if (error_) return *error_;
    return node;
  }

 private:
  void skip_spaces() {
    while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\t')) {
      ++position_;
    }
  }

  // Consumes `c` after spaces if it is next.
  bool accept(char c) {
    skip_spaces();
    if (position_ >= text_.size() || text_[position_] != c) return false;
    ++position_;
    return true;
  }

  NodePointer complain(const std::string& what) {
    if (!error_) {
      std::string found = "the end";
      if (position_ < text_.size()) {
        const auto c = static_cast<unsigned char>(text_[position_]);
        found = c >= 32 && c < 127 ? fmt::format("'{}'", text_[position_])
                                   : fmt::format("byte 0x{:02x}", c);
      }
      error_ = fail(ErrorCode::parse,
                    fmt::format("{} at column {}, found {}", what, position_ + 1, found));
    }
    return constant(0);
  }

  NodePointer sum() {
    if (++nesting_ > kMaximumNesting) {
      return complain(fmt::format("more than {} nested parentheses", kMaximumNesting));
    }
    NodePointer left = product();
    while (!error_) {
      if (accept('+')) {
        left = binary(Kind::sum, left, product());
      } else if (accept('-')) {
        left = binary(Kind::difference, left, product());
      } else {
        break;
      }
    }
    --nesting_;
    return left;
  }

  NodePointer product() {
    NodePointer left = unary();
    while (!error_) {
      if (accept('*')) {
        left = binary(Kind::product, left, unary());
      } else if (accept('/')) {
        left = binary(Kind::quotient, left, unary());
      } else if (accept('%')) {
        left = binary(Kind::remainder, left, unary());
      } else {
        break;
      }
    }
    return left;
  }

  NodePointer unary() {
    bool negative = false;
    while (accept('-'))
      negative = !negative;
    skip_spaces();
    if (position_ < text_.size() && is_digit(text_[position_])) return integer(negative);
    NodePointer operand = primary();
    return negative ? binary(Kind::product, constant(-1), operand) : operand;
  }

  // The sign belongs to the literal so that the smallest integer can be written.
  NodePointer integer(bool negative) {
    const std::size_t start = position_;
    while (position_ < text_.size() && is_digit(text_[position_]))
      ++position_;
    std::string digits(text_.substr(start, position_ - start));
    if (negative) digits.insert(digits.begin(), '-');
    std::int64_t value = 0;
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (code != std::errc{} || end != digits.data() + digits.size()) {
      position_ = start;
      return complain("the integer does not fit in 64 bits");
    }
    if (position_ < text_.size() && is_name_start(text_[position_])) {
      return complain("expected an operator after the integer");
    }
    return constant(value);
  }

  NodePointer primary() {
    skip_spaces();
    if (accept('(')) {
      NodePointer inner = sum();
      if (!error_ && !accept(')')) return complain("expected ')'");
      return inner;
    }
    if (position_ >= text_.size() || !is_name_start(text_[position_])) {
      return complain("expected a number, a symbol or '('");
    }
    const std::size_t start = position_;
    while (position_ < text_.size() &&
           (is_name_start(text_[position_]) || is_digit(text_[position_]))) {
      ++position_;
    }
    const std::string_view name = text_.substr(start, position_ - start);
    if (!accept('(')) return symbol(std::string(name));
    Kind kind = Kind::ceiling;
    if (name == "min") {
      kind = Kind::minimum;
    } else if (name == "max") {
      kind = Kind::maximum;
    } else if (name != "cdiv") {
      position_ = start;
      return complain("the only functions are cdiv(a, b), min(a, b) and max(a, b); error");
    }
    NodePointer a = sum();
    if (!error_ && !accept(',')) return complain("expected ','");
    NodePointer b = error_ ? a : sum();
    if (!error_ && !accept(')')) return complain("expected ')'");
    return binary(kind, a, b);
  }

  std::string_view text_;
  std::size_t position_ = 0;
  int nesting_ = 0;
  std::optional<Error> error_;
};

}  // namespace

Result<NodePointer> parse(std::string_view text) {
  return Parser(text).parse();
}

}  // namespace regraph::expression_internal
