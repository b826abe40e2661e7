// What a scalar parameter is passed.
#pragma once

#include "base/result.h"
#include "kernel/expression.h"
#include "kernel/scalar_type.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace regraph {

// Beyond it doubles skip integers.
inline constexpr double kLargestExactInteger = 0x1p53;

// The shortest text that reads back to the same double, as YAML has it.
[[nodiscard]] std::string number_text(double value);

// A number, or an expression of sizes that has another value at each of them.
class ScalarValue {
 public:
  ScalarValue(double number) : number_(number) {}  // NOLINT: implicit
  ScalarValue(IntegerExpression expression) : expression_(std::move(expression)) {}  // NOLINT

  bool operator==(const ScalarValue&) const = default;

  // Null: a number.
  [[nodiscard]] const IntegerExpression* expression() const {
    return expression_ ? &*expression_ : nullptr;
  }
  // As an expression of sizes; nothing for a number that is not whole, or beyond 2^53.
  [[nodiscard]] std::optional<IntegerExpression> as_expression() const;
  // As the manifest has it.
  [[nodiscard]] std::string text() const;

  // The value at these sizes. Errors are the expression's, and begin with its text.
  [[nodiscard]] Result<double> at(const Symbols& symbols) const;
  // The same where it comes from an expression, and is not rounded to a double; nothing for a
  // number.
  [[nodiscard]] Result<std::optional<std::int64_t>> integer_at(const Symbols& symbols) const;
  // The error says value, type and sizes when a parameter of this type cannot hold it there.
  [[nodiscard]] Status check_fits(ScalarType type, const Symbols& symbols) const;

  // Rounded to fp32 before it becomes a double: what a parameter in fp32 holds.
  [[nodiscard]] ScalarValue in_single() const;

 private:
  double number_ = 0.0;
  std::optional<IntegerExpression> expression_;
  bool in_single_ = false;
};

}  // namespace regraph
