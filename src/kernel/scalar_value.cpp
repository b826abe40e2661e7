#include "kernel/scalar_value.h"

#include <fmt/format.h>

#include <cmath>

namespace regraph {
namespace {

constexpr double kLargestHalf = 65504.0;

// Exclusive above, so that 2^63 and 2^64 are numbers, too.
struct Range {
  double from = 0.0;
  double below = 0.0;
};

Range range_of(ScalarType type) {
  const int bits = type == ScalarType::boolean ? 1 : static_cast<int>(8 * size_in_bytes(type));
  switch (type) {
    case ScalarType::i8:
    case ScalarType::i16:
    case ScalarType::i32:
    case ScalarType::i64:
      return {-std::ldexp(1.0, bits - 1), std::ldexp(1.0, bits - 1)};
    default:
      return {0.0, std::ldexp(1.0, bits)};
  }
}

bool holds(ScalarType type, double value) {
  if (type == ScalarType::f16) return !std::isfinite(value) || std::abs(value) <= kLargestHalf;
  if (is_floating(type)) return true;
  const Range range = range_of(type);
  return std::floor(value) == value && value >= range.from && value < range.below;
}

std::string sizes_text(const Symbols& symbols) {
  std::string text;
  for (const auto& [name, value] : symbols)
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", name, value);
  return "{" + text + "}";
}

}  // namespace

std::string number_text(double value) {
  if (std::isnan(value)) return ".nan";
  if (std::isinf(value)) return value < 0 ? "-.inf" : ".inf";
  return fmt::format("{}", value);
}

std::optional<IntegerExpression> ScalarValue::as_expression() const {
  if (expression_) return expression_;
  if (std::floor(number_) != number_ || std::abs(number_) > kLargestExactInteger)
    return std::nullopt;
  return IntegerExpression(static_cast<std::int64_t>(number_));
}

std::string ScalarValue::text() const {
  return expression_ ? expression_->text() : number_text(number_);
}

Result<std::optional<std::int64_t>> ScalarValue::integer_at(const Symbols& symbols) const {
  if (!expression_) return std::optional<std::int64_t>();
  const Result<std::int64_t> value = expression_->evaluate(symbols);
  if (value.ok()) return std::optional<std::int64_t>(*value);
  return Error{value.error().code,
               fmt::format("{}: {}", expression_->text(), value.error().message)};
}

Result<double> ScalarValue::at(const Symbols& symbols) const {
  const auto integer = integer_at(symbols);
  if (!integer.ok()) return integer.error();
  const double value = *integer ? static_cast<double>(**integer) : number_;
  return in_single_ ? static_cast<double>(static_cast<float>(value)) : value;
}

Status ScalarValue::check_fits(ScalarType type, const Symbols& symbols) const {
  const auto integer = integer_at(symbols);
  if (!integer.ok()) return integer.error();
  const double value = *integer ? static_cast<double>(**integer) : number_;
  // The largest 64-bit integers round up to what would be beyond them.
  const bool exact = *integer && type == ScalarType::i64;
  const bool exact_unsigned = *integer && type == ScalarType::u64 && **integer >= 0;
  if (exact || exact_unsigned || holds(type, value)) return {};
  if (!expression_) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} does not fit its type {}", number_text(value), cuda_name(type)));
  }
  return fail(ErrorCode::invalid_argument,
              fmt::format("{} is {} at {}, which does not fit its type {}", expression_->text(),
                          **integer, sizes_text(symbols), cuda_name(type)));
}

ScalarValue ScalarValue::in_single() const {
  ScalarValue value = *this;
  value.in_single_ = true;
  return value;
}

}  // namespace regraph
