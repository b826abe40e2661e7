// Counter-based random numbers: every draw is a pure function of what it is for, so the order in
// which draws happen (threads, resumption) cannot change any of them.
#pragma once

#include <cstdint>

namespace regraph {

// SplitMix64 finaliser (Steele, Lea, Flood: "Fast splittable pseudorandom number generators",
// OOPSLA 2014). A bijection on 64-bit integers with good avalanche.
[[nodiscard]] constexpr std::uint64_t splitmix64(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

// Mixes any number of integers into one draw.
template <typename... Rest>
[[nodiscard]] constexpr std::uint64_t random_bits(std::uint64_t first, Rest... rest) {
  std::uint64_t state = splitmix64(first);
  ((state = splitmix64(state ^ static_cast<std::uint64_t>(rest))), ...);
  return state;
}

// Maps 64 random bits to a double in [0, 1).
[[nodiscard]] constexpr double to_unit_interval(std::uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1.0p-53;
}

}  // namespace regraph
