#include "eval/verify/element.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace regraph::verify {

namespace {

template <typename Value>
double load_as(const std::byte* source) {
  Value value;
  std::memcpy(&value, source, sizeof(value));
  return static_cast<double>(value);
}

template <typename Value>
void store_as(double value, std::byte* target) {
  Value converted{};
  if constexpr (std::numeric_limits<Value>::is_integer) {
    constexpr auto kLow = static_cast<double>(std::numeric_limits<Value>::min());
    constexpr auto kHigh = static_cast<double>(std::numeric_limits<Value>::max());
    if (std::isnan(value)) {
      converted = 0;
    } else if (value <= kLow) {
      converted = std::numeric_limits<Value>::min();
    } else if (value >= kHigh) {
      converted = std::numeric_limits<Value>::max();
    } else {
      converted = static_cast<Value>(value);
    }
  } else {
    converted = static_cast<Value>(value);
  }
  std::memcpy(target, &converted, sizeof(converted));
}

// Rounds to a binary floating format with `mantissa_bits` stored bits, the exponent bias and
// largest biased exponent (the one of infinity) given. Works on the value, so one rounding happens.
std::uint16_t encode_small_float(double value, int mantissa_bits, int bias, int infinity_exponent) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const auto infinity = static_cast<std::uint16_t>(infinity_exponent << mantissa_bits);
  if (std::isnan(value)) {
    return static_cast<std::uint16_t>(sign | infinity | (1 << (mantissa_bits - 1)));
  }
  const double magnitude = std::abs(value);
  if (magnitude == 0.0) return sign;
  if (std::isinf(magnitude)) return sign | infinity;
  int exponent = std::ilogb(magnitude);
  if (exponent < 1 - bias) exponent = 1 - bias;  // subnormals share the smallest exponent
  // Units in the last place at this exponent; nearbyint rounds to even.
  const double units = std::nearbyint(std::scalbn(magnitude, mantissa_bits - exponent));
  // A carry out of the mantissa runs into the exponent field by itself, also up to infinity.
  const long biased = static_cast<long>(exponent) + bias - 1;
  const long bits = (biased << mantissa_bits) + static_cast<long>(units);
  return bits >= infinity ? static_cast<std::uint16_t>(sign | infinity)
                          : static_cast<std::uint16_t>(sign | bits);
}

double decode_small_float(std::uint16_t bits, int mantissa_bits, int bias, int infinity_exponent) {
  const int mantissa = bits & ((1 << mantissa_bits) - 1);
  const int exponent = (bits & 0x7FFF) >> mantissa_bits;
  double magnitude = 0.0;
  if (exponent == infinity_exponent) {
    magnitude = mantissa == 0 ? std::numeric_limits<double>::infinity()
                              : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = std::scalbn(static_cast<double>(mantissa), 1 - bias - mantissa_bits);
  } else {
    magnitude = std::scalbn(static_cast<double>(mantissa + (1 << mantissa_bits)),
                            exponent - bias - mantissa_bits);
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

}  // namespace

std::uint16_t half_from_double(double value) {
  return encode_small_float(value, 10, 15, 31);
}
double double_from_half(std::uint16_t bits) {
  return decode_small_float(bits, 10, 15, 31);
}
std::uint16_t bfloat16_from_double(double value) {
  return encode_small_float(value, 7, 127, 255);
}
double double_from_bfloat16(std::uint16_t bits) {
  return static_cast<double>(std::bit_cast<float>(std::uint32_t{bits} << 16));
}

double load_element(ScalarType type, const std::byte* source) {
  switch (type) {
    case ScalarType::boolean:
    case ScalarType::u8:
      return load_as<std::uint8_t>(source);
    case ScalarType::i8:
      return load_as<std::int8_t>(source);
    case ScalarType::i16:
      return load_as<std::int16_t>(source);
    case ScalarType::u16:
      return load_as<std::uint16_t>(source);
    case ScalarType::i32:
      return load_as<std::int32_t>(source);
    case ScalarType::u32:
      return load_as<std::uint32_t>(source);
    case ScalarType::i64:
      return load_as<std::int64_t>(source);
    case ScalarType::u64:
      return load_as<std::uint64_t>(source);
    case ScalarType::f32:
      return load_as<float>(source);
    case ScalarType::f64:
      return load_as<double>(source);
    case ScalarType::f16:
    case ScalarType::bf16: {
      std::uint16_t bits = 0;
      std::memcpy(&bits, source, sizeof(bits));
      return type == ScalarType::f16 ? double_from_half(bits) : double_from_bfloat16(bits);
    }
  }
  return 0.0;
}

FloatFormat format_of(ScalarType type) {
  switch (type) {
    case ScalarType::f64:
      return {52, -1022};
    case ScalarType::f16:
      return {10, -14};
    case ScalarType::bf16:
      return {7, -126};
    default:
      return {};
  }
}

double smallest_denormal(ScalarType type) {
  const FloatFormat format = format_of(type);
  return std::ldexp(1.0, format.least_exponent - format.mantissa_bits);
}

double unit_roundoff(ScalarType type) {
  return is_floating(type) ? std::ldexp(1.0, -format_of(type).mantissa_bits - 1) : 0.0;
}

void store_element(ScalarType type, double value, std::byte* target) {
  switch (type) {
    case ScalarType::boolean:
      *target = std::byte{static_cast<unsigned char>(value != 0.0)};
      return;
    case ScalarType::u8:
      store_as<std::uint8_t>(value, target);
      return;
    case ScalarType::i8:
      store_as<std::int8_t>(value, target);
      return;
    case ScalarType::i16:
      store_as<std::int16_t>(value, target);
      return;
    case ScalarType::u16:
      store_as<std::uint16_t>(value, target);
      return;
    case ScalarType::i32:
      store_as<std::int32_t>(value, target);
      return;
    case ScalarType::u32:
      store_as<std::uint32_t>(value, target);
      return;
    case ScalarType::i64:
      store_as<std::int64_t>(value, target);
      return;
    case ScalarType::u64:
      store_as<std::uint64_t>(value, target);
      return;
    case ScalarType::f32:
      store_as<float>(value, target);
      return;
    case ScalarType::f64:
      store_as<double>(value, target);
      return;
    case ScalarType::f16:
    case ScalarType::bf16: {
      const std::uint16_t bits =
          type == ScalarType::f16 ? half_from_double(value) : bfloat16_from_double(value);
      std::memcpy(target, &bits, sizeof(bits));
      return;
    }
  }
}

}  // namespace regraph::verify
