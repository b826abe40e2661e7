#include "eval/verify/sprinkle.h"

#include "eval/verify/draw.h"
#include "eval/verify/element.h"
#include "eval/verify/inputs.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

namespace regraph::verify {
namespace {

// Integers that the manifest allows a buffer to hold: from, to.
std::optional<std::pair<double, double>> allowed_integers(const Argument& argument,
                                                          const Symbols& symbols) {
  constexpr double kAny = 0x1p62;
  if (has_guessed_integers(argument)) return std::pair(-kAny, kAny);
  if (!has_range_of_integers(argument)) return std::nullopt;
  const Result<BufferInit> init = argument.init.at(symbols);
  if (!init.ok()) return std::nullopt;
  return std::pair(init->low, init->high);
}

// A value made of one of the values.
double relative_of(std::span<const double> values, double step, Draw& draw) {
  constexpr double kMostMultiple = 0x1p20;
  const double value = values[draw.bits() % values.size()];
  switch (draw.bits() % 8) {
    case 0:
      return value + step;
    case 1:
      return value - step;
    case 2:
      return 2.0 * value;
    case 3:
      return -value;
    case 4:
      return std::floor(std::pow(kMostMultiple, draw.unit())) * value;
    case 5:
      return 0.5 * (value + values[draw.bits() % values.size()]);
    default:
      return value;
  }
}

}  // namespace

void sprinkle(const Argument& argument, const Symbols& symbols, std::span<const double> values,
              Sprinkling how, std::uint64_t seed, std::span<std::byte> buffer) {
  const bool floating = argument.fields.empty() && is_floating(argument.type) &&
                        argument.init.kind != BufferInit::Kind::constant;
  const auto allowed = allowed_integers(argument, symbols);
  if (values.empty() || (!floating && !allowed)) return;
  constexpr std::uint64_t kOneOf = 4;
  constexpr std::uint64_t kOneOfTheLast = 2;
  constexpr std::uint64_t kLastElements = 8;
  constexpr double kLeastBelow = 0.05;
  const std::size_t size = size_in_bytes(argument.type);
  const std::uint64_t count = buffer.size() / size;
  const std::uint64_t begin =
      how == Sprinkling::at_the_end && count > kLastElements ? count - kLastElements : 0;
  for (std::uint64_t i = begin; i < count; ++i) {
    Draw draw(seed, 0, i);
    const bool chosen = draw.bits() % (how == Sprinkling::at_the_end ? kOneOfTheLast : kOneOf) == 0;
    if (!chosen && how != Sprinkling::everywhere && how != Sprinkling::highest) continue;
    std::byte* const target = buffer.data() + i * size;
    if (how == Sprinkling::bits) {
      const double bits_of = values[draw.bits() % values.size()];
      if (argument.type != ScalarType::f32 || std::floor(bits_of) != bits_of ||
          std::abs(bits_of) >= 0x1p31) {
        continue;
      }
      const auto bits = static_cast<std::int32_t>(bits_of);
      if (std::isnormal(std::bit_cast<float>(bits))) std::memcpy(target, &bits, sizeof(bits));
      continue;
    }
    double value =
        how == Sprinkling::values ? relative_of(values, floating ? 0.0 : 1.0, draw) : values[0];
    if (how == Sprinkling::highest && !chosen)
      value -= (kLeastBelow + draw.unit()) * std::abs(value);
    if (!floating) {
      if (std::floor(value) == value && value >= allowed->first && value <= allowed->second)
        store_element(argument.type, value, target);
      continue;
    }
    const double step = std::ldexp(std::abs(value), 1 - format_of(argument.type).mantissa_bits);
    if (how == Sprinkling::values) {
      const double others[] = {value, value, value + step, value - step};
      value = others[draw.bits() % 4];
    }
    store_element(argument.type, value, target);
  }
}

}  // namespace regraph::verify
