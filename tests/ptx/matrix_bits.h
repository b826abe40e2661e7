// Factors and sums of tensor cores as random bits, which try rounding, cancellation, numbers near
// the ends of their formats, infinities and NaNs.
#pragma once

#include "ptx/matrix_test_support.h"

#include <cstdint>
#include <string>
#include <vector>

namespace regraph::ptx {

enum class Spread : std::uint8_t {
  near,   // exponents within 3 of each other: sums cancel, every digit counts
  wide,   // within 24: small terms lose digits
  zeros,  // near, and three of four are zero
  all,    // any finite bits, those below the normal ones among them
  wild,   // any bits, infinities and NaNs among them
};
inline constexpr Spread kSpreads[] = {Spread::near, Spread::wide, Spread::zeros, Spread::all,
                                      Spread::wild};
inline std::string name(Spread spread) {
  const char* const names[] = {"near", "wide", "zeros", "all", "wild"};
  return names[static_cast<int>(spread)];
}

// The bits of one value of `type`; `draw` is random.
inline std::uint64_t spread_bits(const std::string& type, Spread spread, std::uint64_t draw) {
  const int bits = bits_of_type(type);
  const std::uint64_t mask = bits == 64 ? ~0ULL : (1ULL << bits) - 1;
  if (type[0] == 's' || type[0] == 'u') {
    if (type != "s32" || spread == Spread::wild) return draw & mask;
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(draw % 200001) - 100000) & mask;
  }
  if (spread == Spread::wild) return draw & mask;
  const FloatFormat format = type == "f64" ? FloatFormat{11, 52} : format_of(type);
  const std::uint64_t most = (1ULL << format.exponent_bits) - 1;  // e4m3 counts on with it
  const std::uint64_t mantissa = draw & ((1ULL << format.mantissa_bits) - 1);
  const std::uint64_t sign = draw >> 63;
  const std::uint64_t choice = draw >> 53 & 0x3ffU;
  std::uint64_t exponent = choice % most;
  if (spread != Spread::all) {
    if (spread == Spread::zeros && choice % 4 != 0) return sign << (bits - 1);
    const std::uint64_t span = spread == Spread::wide ? 25 : 4;
    exponent = most / 2 - span / 2 + choice / 4 % span;
    exponent = exponent > most ? 0 : exponent >= most ? most - 1 : exponent;
  }
  return sign << (bits - 1) | exponent << format.mantissa_bits | mantissa;
}

// Registers of `count` values, as many in a word as fit.
inline std::vector<std::uint64_t> spread_words(const std::string& type, int words, Spread spread,
                                               std::uint64_t seed) {
  std::vector<std::uint64_t> result(static_cast<std::size_t>(words));
  std::uint64_t index = 0;
  for (std::uint64_t& word : result) {
    for (int i = 0; i < values_of_type(type); ++i)
      word |= spread_bits(type, spread, random_bits(seed, ++index)) << (i * bits_of_type(type));
  }
  return result;
}

}  // namespace regraph::ptx
