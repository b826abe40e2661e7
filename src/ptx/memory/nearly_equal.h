// Whether it matters which of two lanes stores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace regraph::ptx {

// Units in the last place that two orders of adding a few dozen fp32 terms of one sign differ by.
inline constexpr std::uint32_t kRoundingUnits = 16;

// Whether `bytes` at both places hold fp32 values that differ by rounding at most. Integers up to
// 2^23, zeros and values without a number are equal only to themselves.
[[nodiscard]] inline bool nearly_equal(const std::byte* a, const std::byte* b, std::size_t bytes) {
  constexpr std::uint32_t kExponent = 0x7F800000;
  if (bytes % sizeof(std::uint32_t) != 0) return std::memcmp(a, b, bytes) == 0;
  for (std::size_t at = 0; at < bytes; at += sizeof(std::uint32_t)) {
    std::uint32_t left = 0;
    std::uint32_t right = 0;
    std::memcpy(&left, a + at, sizeof(left));
    std::memcpy(&right, b + at, sizeof(right));
    if (left == right) continue;
    const auto is_normal = [](std::uint32_t bits) {
      return (bits & kExponent) != 0 && (bits & kExponent) != kExponent;
    };
    const std::uint32_t distance = left > right ? left - right : right - left;
    if (!is_normal(left) || !is_normal(right) || distance > kRoundingUnits) return false;
  }
  return true;
}

}  // namespace regraph::ptx
