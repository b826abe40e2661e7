// How long the sides of a problem are: where it is to be fast, and where results are compared.
#pragma once

#include "dataset/generate/dice.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace regraph::dataset {

inline constexpr std::size_t kTests = 3;

// Values of one size. The first test is no multiple of any block, the last is as small as can be.
struct Extent {
  std::int64_t bench = 0;
  std::array<std::int64_t, kTests> tests = {};
};

// Elements of a problem with one side: 2^17 to 2^19 of them, so that a prediction is cheap.
[[nodiscard]] Extent many_elements(const Dice& dice, std::string_view site);
// A side of `low` to `high` elements: a power of two, a multiple of 32, or neither.
[[nodiscard]] Extent side(const Dice& dice, std::string_view site, std::int64_t low,
                          std::int64_t high);
// The same for a box of three sides, whose tests would grow too long.
[[nodiscard]] Extent box_side(const Dice& dice, std::string_view site, std::int64_t low,
                              std::int64_t high);
// A size that stays what it is at every test, such as a table's length.
[[nodiscard]] Extent fixed(std::int64_t value);
// `extent` times `factor`: lengths that must be whole multiples.
[[nodiscard]] Extent times(Extent extent, std::int64_t factor);

}  // namespace regraph::dataset
