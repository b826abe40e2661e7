// Test inputs: several distributions, each of which shows errors that others hide.
#pragma once

#include "kernel/problem.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace regraph::verify {

enum class Distribution : std::uint8_t {
  small_integers,  // -3..3: sums are exact, so skipped or repeated terms show bit for bit
  manifest,        // what the user gave for each buffer
  normal,          // N(0,1): zero mean, so lower-precision arithmetic shows
  uniform,         // U(0,1): no cancellation, sums grow
  large,           // N(3,10) with rare values a hundred times that: overflow, unstable formulas
  sparse,          // three quarters zeros, the rest a ramp: index mistakes, special cases for 0
};

// Returns words for messages, e.g. "N(0,1)".
[[nodiscard]] std::string_view name(Distribution distribution);

// Returns the distributions to test `problem` with, small integers first: every distinct one (5, or
// 6 when a manifest's init is not normal) and at least check.seeds. Beyond the distinct ones they
// repeat; their position in the list then makes them differ.
[[nodiscard]] std::vector<Distribution> choose_distributions(const Problem& problem);

// Fills `buffer` with elements of the argument's type. Every element depends on (seed, stream,
// index) only. Integer buffers always follow the manifest's init, because they may be indices that
// must stay in range; distributions are for floating types.
void fill(const Argument& argument, Distribution distribution, std::uint64_t seed,
          std::uint64_t stream, std::span<std::byte> buffer);

}  // namespace regraph::verify
