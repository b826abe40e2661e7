// Synthetic GPUs for the timing tests: what can be wrong with a sample, one kind at a time.
#pragma once

#include "base/random.h"

#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

namespace regraph::gpu::test {

// Normal deviates, one for each (seed, index).
inline double normal(std::uint64_t seed, std::uint64_t index) {
  const double radius =
      std::sqrt(-2.0 * std::log(1.0 - to_unit_interval(random_bits(seed, index, 1))));
  const double angle = 2.0 * std::numbers::pi * to_unit_interval(random_bits(seed, index, 2));
  return radius * std::cos(angle);
}

struct NoiseModel {
  std::string name;
  double spread = 0.005;       // sigma of the log-normal factor
  double drift = 0.0;          // the SM clock wanders by this share, with a period of 500 samples
  double second_mode = 0.0;    // 3 of 10 samples take this share longer
  double outlier_share = 0.0;  // samples that take half as long again
  double persistent_sigma = 0.0;  // of an offset that a side keeps for a whole trial
  double tick_seconds = 0.0;      // the timer's grid

  // SM clock over the usual one at the `time`-th sample of the trial.
  [[nodiscard]] double clock(std::uint64_t trial, std::uint64_t time) const {
    const double phase = to_unit_interval(random_bits(trial, 77));
    return 1.0 - drift * (0.5 + 0.5 * std::sin(2.0 * std::numbers::pi *
                                               (static_cast<double>(time) / 500.0 + phase)));
  }

  // The `time`-th sample of a trial, for a kernel that takes `seconds`; `side` is 0 or 1.
  [[nodiscard]] double sample(double seconds, std::uint64_t trial, int side,
                              std::uint64_t time) const {
    const auto key = random_bits(trial, side, 5);
    double value = seconds * std::exp(spread * normal(key, time)) / clock(trial, time);
    value *= std::exp(persistent_sigma * normal(key, ~std::uint64_t{0}));
    const double what = to_unit_interval(random_bits(key, time, 3));
    if (what < 0.3) value *= 1.0 + second_mode;
    if (to_unit_interval(random_bits(key, time, 4)) < outlier_share) value *= 1.5;
    if (tick_seconds > 0.0) {
      // Begin and end are both cut to the grid: where the sample begins decides the rounding.
      const double begin = to_unit_interval(random_bits(key, time, 6)) * tick_seconds;
      value = tick_seconds * std::floor((begin + value) / tick_seconds);
      value = std::max(value, tick_seconds);
    }
    return value;
  }
};

// Spreads: robust variations of an 88-us matrix product on an H200, from hot (0.14 %) to cold after
// a memset (1.10 %).
inline std::vector<NoiseModel> noise_models() {
  std::vector<NoiseModel> models;
  for (const double spread : {0.0014, 0.0058, 0.0070, 0.0103, 0.0110})
    models.push_back({.name = "log-normal " + std::to_string(spread), .spread = spread});
  models.push_back({.name = "drifting clock", .spread = 0.003, .drift = 0.04});
  models.push_back({.name = "two modes", .spread = 0.004, .second_mode = 0.05});
  models.push_back({.name = "outliers", .spread = 0.005, .outlier_share = 0.05});
  models.push_back({.name = "32-ns tick", .spread = 0.003, .tick_seconds = 32e-9});
  models.push_back({.name = "half-us tick", .spread = 0.003, .tick_seconds = 0.5e-6});
  // 120-us kernels differ from themselves by 0.56 % between buffers, 5-us kernels by 8.4 %.
  models.push_back({.name = "buffers 0.5 %", .spread = 0.005, .persistent_sigma = 0.005});
  models.push_back(
      {.name = "buffers 7 %", .spread = 0.01, .persistent_sigma = 0.07, .tick_seconds = 32e-9});
  return models;
}

}  // namespace regraph::gpu::test
