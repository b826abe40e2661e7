// Integer expressions over size symbols and block extents: launch grids, buffer shapes, work
// counts.
//
//   expression := sum;  sum := product (('+'|'-') product)*;  product := unary (('*'|'/'|'%')
//   unary)* unary := '-' unary | integer | symbol | '(' expression ')' | ('cdiv'|'min'|'max') '(' e
//   ',' e ')'
//
// 64-bit; overflow and division by zero are errors, never wrap-around. `/` and `%` are floor forms
// on non-negative operands (a negative operand is an error). cdiv(a, b) rounds up.
#pragma once

#include "base/result.h"

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

namespace regraph {

// Values of symbols, e.g. {M: 4096, bx: 16}.
using Symbols = std::map<std::string, std::int64_t, std::less<>>;

class IntegerExpression {
 public:
  IntegerExpression();                       // the constant 0
  IntegerExpression(std::int64_t constant);  // NOLINT: implicit, expressions mix with constants

  // Parses `text`; the error names the offending column. Nesting is limited to 200 levels.
  [[nodiscard]] static Result<IntegerExpression> parse(std::string_view text);
  [[nodiscard]] static IntegerExpression symbol(std::string name);
  [[nodiscard]] static IntegerExpression add(const IntegerExpression& a,
                                             const IntegerExpression& b);
  [[nodiscard]] static IntegerExpression multiply(const IntegerExpression& a,
                                                  const IntegerExpression& b);
  // cdiv(cdiv(a, b), c) is simplified to cdiv(a, b * c), cdiv(a, 1) to a.
  [[nodiscard]] static IntegerExpression ceil_divide(const IntegerExpression& a,
                                                     const IntegerExpression& b);

  // Returns the value, or an error that names the unknown symbol, the overflow or the division by
  // 0.
  [[nodiscard]] Result<std::int64_t> evaluate(const Symbols& symbols) const;

  // Replaces symbols simultaneously (so a swap {bx->by, by->bx} works). Result is simplified.
  [[nodiscard]] IntegerExpression substitute(
      const std::map<std::string, IntegerExpression, std::less<>>& replacements) const;

  // Canonical text with minimal parentheses; parse(text()) gives an equal expression.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::set<std::string> symbols() const;
  [[nodiscard]] bool is_constant() const;  // holds no symbol
  // Whether the form alone says that `number`, which is positive, divides the value, whatever the
  // symbols are.
  [[nodiscard]] bool is_multiple_of(std::int64_t number) const;

  bool operator==(const IntegerExpression& other) const { return text() == other.text(); }

  struct Node;  // immutable, shared

 private:
  explicit IntegerExpression(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  std::shared_ptr<const Node> node_;
};

}  // namespace regraph
