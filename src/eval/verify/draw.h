// Random numbers that depend on a seed, a stream and an index only.
#pragma once

#include "base/random.h"

#include <cmath>
#include <cstdint>
#include <numbers>

namespace regraph::verify {

// Draws for one element of one input.
class Draw {
 public:
  Draw(std::uint64_t seed, std::uint64_t stream, std::uint64_t index)
      : state_(random_bits(seed, stream, index)) {}

  std::uint64_t bits() { return state_ = splitmix64(state_); }
  double unit() { return to_unit_interval(bits()); }

  // Box and Muller: "A note on the generation of random normal deviates", 1958.
  double normal() {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - unit()));
    return radius * std::cos(2.0 * std::numbers::pi * unit());
  }

  double integer(double low, double high) { return low + std::floor(unit() * (high - low + 1.0)); }

 private:
  std::uint64_t state_;
};

}  // namespace regraph::verify
