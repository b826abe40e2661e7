#include "kernel/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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

bool CheckPolicy::allows_races(const std::string& argument) const {
  return std::ranges::find(benign_races, argument) != benign_races.end();
}

const CapturedCase* Problem::captured_at(const Symbols& symbols) const {
  const auto found = std::ranges::find(captured, symbols, &CapturedCase::symbols);
  return found == captured.end() ? nullptr : &*found;
}

const CapturedContent* Problem::captured_content(const Symbols& symbols,
                                                 const std::string& argument) const {
  const CapturedCase* one = captured_at(symbols);
  if (one == nullptr) return nullptr;
  const auto found = one->contents.find(argument);
  return found == one->contents.end() || !found->second.bytes ? nullptr : &found->second;
}

std::size_t shape_growth(const std::vector<IntegerExpression>& shape) {
  constexpr std::int64_t kSmall = 1 << 10;
  double ratio = 1.0;
  for (const IntegerExpression& extent : shape) {
    Symbols small;
    Symbols large;
    for (const std::string& symbol : extent.symbols()) {
      small[symbol] = kSmall;
      large[symbol] = 2 * kSmall;
    }
    const auto before = extent.evaluate(small);
    const auto after = extent.evaluate(large);
    if (!before.ok() || !after.ok() || *before < 1 || *after < 1) return 1;
    ratio *= static_cast<double>(*after) / static_cast<double>(*before);
  }
  return static_cast<std::size_t>(std::max(0L, std::lround(std::log2(ratio))));
}

}  // namespace regraph
