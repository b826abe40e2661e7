#include "kernel/buffer_init.h"

#include "kernel/scalar_value.h"

#include <fmt/format.h>

#include <cmath>

namespace regraph {
namespace {

std::string bound_text(const std::optional<IntegerExpression>& expression, double number) {
  return expression ? expression->text() : number_text(number);
}

// Writes the expression's value to `number`.
Status work_out(const std::optional<IntegerExpression>& expression, const Symbols& symbols,
                double& number) {
  if (!expression) return {};
  const Result<std::int64_t> value = expression->evaluate(symbols);
  if (!value.ok()) {
    return Error{value.error().code,
                 fmt::format("{}: {}", expression->text(), value.error().message)};
  }
  number = static_cast<double>(*value);
  if (number <= kLargestExactInteger && number >= -kLargestExactInteger) return {};
  return fail(ErrorCode::invalid_argument,
              fmt::format("{} is {}, more than 2^53", expression->text(), *value));
}

}  // namespace

Result<BufferInit> BufferInit::at(const Symbols& symbols) const {
  BufferInit known = *this;
  if (Status status = work_out(low_expression, symbols, known.low); !status.ok())
    return status.error();
  if (Status status = work_out(high_expression, symbols, known.high); !status.ok())
    return status.error();
  known.low_expression.reset();
  known.high_expression.reset();
  const bool is_range = kind == Kind::integers || kind == Kind::uniform;
  if (is_range && known.low > known.high) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} is from {} to {}, which holds nothing", text(),
                            number_text(known.low), number_text(known.high)));
  }
  return known;
}

std::string BufferInit::text() const {
  const std::string from = bound_text(low_expression, low);
  const std::string to = bound_text(high_expression, high);
  switch (kind) {
    case Kind::normal:
      return "normal";
    case Kind::iota:
      return "iota";
    case Kind::uniform:
      return fmt::format("uniform({},{})", from, to);
    case Kind::integers:
      return fmt::format("int({},{})", low_expression ? from : fmt::format("{:.0f}", low),
                         high_expression ? to : fmt::format("{:.0f}", high));
    case Kind::constant:
      if (low == 0.0 && !std::signbit(low)) return "zeros";
      return low == 1.0 ? "ones" : fmt::format("constant({})", from);
    case Kind::permutation:
      return "permutation";
    case Kind::csr_offsets:
      return fmt::format("csr_offsets({})", to);
    case Kind::csr_columns:
      return fmt::format("csr_columns({})", to);
    case Kind::file:
      return content.file;
  }
  return "normal";
}

}  // namespace regraph
