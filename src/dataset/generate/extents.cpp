#include "dataset/generate/extents.h"

#include <string>

namespace regraph::dataset {

Extent many_elements(const Dice& dice, std::string_view site) {
  const std::string name(site);
  return {dice.one_of<std::int64_t>(
              name + " bench", {1 << 17, 1 << 18, 1 << 19, 200000, 250000, 300000, 262147, 399999}),
          {dice.one_of<std::int64_t>(name + " odd", {777, 1000, 1021, 1237, 1501, 2003}),
           dice.one_of<std::int64_t>(name + " even", {512, 1024, 1536, 2048}),
           dice.between(name + " few", 1, 5)}};
}

Extent side(const Dice& dice, std::string_view site, std::int64_t low, std::int64_t high) {
  const std::string name(site);
  std::int64_t bench = dice.between(name + " bench", low, high);
  switch (dice.below(name + " kind", 3)) {
    case 0: {
      std::int64_t power = 1;
      while (2 * power <= bench)
        power *= 2;
      bench = power >= low ? power : 2 * power;
      break;
    }
    case 1:
      bench = (bench + 31) / 32 * 32;
      break;
    default:
      break;
  }
  return {
      bench,
      {dice.one_of<std::int64_t>(name + " odd", {29, 37, 45, 51, 53, 61, 67, 70}),
       dice.one_of<std::int64_t>(name + " even", {32, 64, 96}), dice.between(name + " few", 1, 4)}};
}

Extent box_side(const Dice& dice, std::string_view site, std::int64_t low, std::int64_t high) {
  const std::string name(site);
  Extent extent = side(dice, site, low, high);
  extent.tests[0] = dice.one_of<std::int64_t>(name + " odd in box", {9, 11, 13, 17, 19, 21, 35});
  extent.tests[1] = dice.one_of<std::int64_t>(name + " even in box", {8, 16, 16, 32});
  return extent;
}

Extent fixed(std::int64_t value) {
  return {value, {value, value, value}};
}

Extent times(Extent extent, std::int64_t factor) {
  extent.bench *= factor;
  for (std::int64_t& test : extent.tests)
    test *= factor;
  return extent;
}

}  // namespace regraph::dataset
