#include "kernel/problem.h"

#include <fmt/format.h>

namespace regraph {

Result<std::int64_t> Argument::element_count(const Symbols& symbols) const {
  std::int64_t count = components;
  for (const IntegerExpression& extent : shape) {
    const Result<std::int64_t> value = extent.evaluate(symbols);
    if (!value.ok()) {
      return Error{value.error().code, fmt::format("shape of '{}', extent {}: {}", name,
                                                   extent.text(), value.error().message)};
    }
    if (*value < 1) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("shape of '{}': extent {} is {}, must be at least 1", name,
                              extent.text(), *value));
    }
    if (__builtin_mul_overflow(count, *value, &count)) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("shape of '{}': the number of elements overflows 64 bits", name));
    }
  }
  return count;
}

}  // namespace regraph
