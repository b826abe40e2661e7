#include "kernel/check_values.h"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>
#include <utility>

namespace regraph {
namespace {

using InitKind = BufferInit::Kind;

// Buffers with contents that go together are drawn as a whole, not as a pattern that repeats.
constexpr std::uint64_t kMostWholeBytes = std::uint64_t{2} << 30;

Error value_trouble(const Argument& argument, std::string_view why) {
  return fail(ErrorCode::invalid_argument, fmt::format("'{}': {}", argument.name, why));
}

Status check_fits(const Argument& argument, double value) {
  const Status fits = ScalarValue(value).check_fits(argument.type, {});
  if (fits.ok()) return {};
  return value_trouble(argument, fmt::format("{}: {}", argument.init.text(), fits.error().message));
}

// Numbers that go together are those of plain integers.
Status check_plain_integers(const Argument& argument) {
  if (!is_floating(argument.type) && argument.type != ScalarType::boolean &&
      argument.components == 1 && argument.record_bytes == 0) {
    return {};
  }
  return value_trouble(argument, argument.init.text() + " is for buffers of integers");
}

Status check_offsets(const Argument& argument, double entries, std::int64_t count) {
  if (entries < 0.0)
    return value_trouble(argument,
                         fmt::format("{} is negative: {}", argument.init.text(), entries));
  if (count < 2 && entries > 0.0) {
    return value_trouble(argument,
                         fmt::format("{} needs a place for each row and one more, and the "
                                     "buffer has {}",
                                     argument.init.text(), count));
  }
  return check_fits(argument, entries);
}

Status check_content(const Argument& argument, const Symbols& symbols) {
  const Result<BufferInit> init = argument.init.at(symbols);
  if (!init.ok())
    return Error{init.error().code, fmt::format("'{}': {}", argument.name, init.error().message)};
  const Result<std::int64_t> count = argument.element_count(symbols);
  if (!count.ok()) return count.error();
  const std::uint64_t size = size_in_bytes(argument.type);
  if (init->is_whole() && static_cast<std::uint64_t>(*count) > kMostWholeBytes / size) {
    return value_trouble(argument,
                         fmt::format("{} is kept whole, and {} elements are more than 2 GiB",
                                     argument.init.text(), *count));
  }
  switch (init->kind) {
    case InitKind::constant:
      if (argument.record_bytes > 0 && init->text() != "zeros")
        return value_trouble(argument, "a buffer of structures takes zeros or a file");
      return check_fits(argument, init->low);
    case InitKind::integers:
      if (argument.init.low_expression || argument.init.high_expression) {
        if (Status low = check_fits(argument, init->low); !low.ok()) return low;
        return check_fits(argument, init->high);
      }
      return {};
    case InitKind::permutation:
      if (Status plain = check_plain_integers(argument); !plain.ok()) return plain;
      return check_fits(argument, static_cast<double>(*count - 1));
    case InitKind::csr_offsets:
      if (Status plain = check_plain_integers(argument); !plain.ok()) return plain;
      return check_offsets(argument, init->high, *count);
    case InitKind::csr_columns:
      if (Status plain = check_plain_integers(argument); !plain.ok()) return plain;
      if (init->high < 1.0)
        return value_trouble(argument, fmt::format("{} has no column", argument.init.text()));
      return check_fits(argument, init->high - 1.0);
    default:
      return {};
  }
}

}  // namespace

Status check_values(const Argument& argument, const Symbols& symbols) {
  if (argument.value) {
    const Status fits = argument.value->check_fits(argument.type, symbols);
    if (fits.ok()) return {};
    return Error{fits.error().code, fmt::format("'{}': {}", argument.name, fits.error().message)};
  }
  return argument.is_input() ? check_content(argument, symbols) : Status();
}

}  // namespace regraph
