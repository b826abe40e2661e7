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
  if (const CapturedCase* one = captured_at(symbols)) {
    const auto found = one->contents.find(argument);
    if (found != one->contents.end() && found->second.bytes) return &found->second;
  }
  const auto known = std::ranges::find(arguments, argument, &Argument::name);
  const bool has_file = known != arguments.end() && known->init.content.bytes;
  return has_file ? &known->init.content : nullptr;
}

std::vector<std::string> Problem::constant_contents() const {
  std::vector<std::string> contents;
  for (const Argument& argument : arguments) {
    if (!argument.is_input() || argument.init.kind != BufferInit::Kind::constant) continue;
    contents.push_back(
        fmt::format("'{}' holds {} before every launch", argument.name, argument.init.text()));
  }
  return contents;
}

const char* name_of(Precision precision) {
  switch (precision) {
    case Precision::keep:
      return "keep";
    case Precision::tf32x3:
      return "tf32x3";
    case Precision::any:
      return "any";
  }
  return "";
}

bool Assumptions::is_fixed(const std::string& name) const {
  return std::ranges::find(fixed, name) != fixed.end();
}

bool Problem::has_files() const {
  return std::ranges::any_of(arguments, [](const Argument& argument) {
    return argument.is_input() && argument.init.kind == BufferInit::Kind::file;
  });
}

bool Problem::has_given_data(const Symbols& symbols) const {
  return captured_at(symbols) != nullptr || has_files();
}

bool Problem::is_whole(const Symbols& symbols, const Argument& argument) const {
  return argument.init.is_whole() || captured_content(symbols, argument.name) != nullptr;
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
