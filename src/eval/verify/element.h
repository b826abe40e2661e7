// Single elements of typed device buffers on the host.
#pragma once

#include "kernel/scalar_type.h"

#include <cstddef>
#include <cstdint>

namespace regraph::verify {

// IEEE binary16 and bfloat16, rounding to nearest even; NaN stays NaN, overflow becomes infinity.
[[nodiscard]] std::uint16_t half_from_double(double value);
[[nodiscard]] double double_from_half(std::uint16_t bits);
[[nodiscard]] std::uint16_t bfloat16_from_double(double value);
[[nodiscard]] double double_from_bfloat16(std::uint16_t bits);

// Value of the element at `source` (any alignment). 64-bit integers beyond 2^53 are rounded: for
// showing and measuring, not for exact comparison.
[[nodiscard]] double load_element(ScalarType type, const std::byte* source);

// What decides which numbers a floating type holds; that of fp32 for other types.
struct FloatFormat {
  int mantissa_bits = 23;  // without the leading one
  int least_exponent = -126;
};
[[nodiscard]] FloatFormat format_of(ScalarType type);

// The least positive number of a floating type.
[[nodiscard]] double smallest_denormal(ScalarType type);

// Of rounding to nearest; 0 for integers.
[[nodiscard]] double unit_roundoff(ScalarType type);

// Stores `value` converted to `type`: floating types round to nearest, integers truncate towards
// zero and saturate.
void store_element(ScalarType type, double value, std::byte* target);

}  // namespace regraph::verify
