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
  captured,        // what the user's program launched the kernel on
  perturbed,       // these, or the user's files, their floating-point numbers scaled and exchanged
  exchanged,       // the same, and some integers those of other elements: often no valid input
  // Beyond what the manifest says, where the original has a result (test_cases.h):
  zero_runs,            // zeros in long runs, or ordinary values
  near_ties,            // long equal runs, and values that differ in their last bits
  magnitudes,           // 2^-20 to 2^24 (half precision: 2^-6 to 2^6), powers of two among them
  near_zero,            // N(0,1) times 2^-24 (half precision: 2^-8)
  far_below,            // -2^40 to -2^41 (half precision: -2^10 to -2^11): below any lower bound
  lowest,               // -2^110 to -2^111 (half precision: as far_below)
  largest,              // 2^100 to 2^128 of both signs (half precision: 2^8 to 2^16)
  below_exponent,       // -105 to -840, where the exponential of fp32 is 0
  ascending,            // a ramp, from -32 on
  denormals,            // too small for a normal number
  denormals_and_large,  // these, and one of four 2^40 to 2^50 (half precision: 2^4 to 2^6)
  small_or_large,       // each buffer all denormals, 2^40 to 2^50 (half: 2^4 to 2^6), or zeros
  signed_zeros,         // zeros of both signs, denormals, ordinary values
  infinite,             // a few infinities among ordinary values
  not_finite,           // the same with NaN
  negative_integers,    // integers -16..15, unsigned ones 0..255
  extreme_integers,     // the least, the largest, powers of two, random bits
  equal_integers,       // all the same
};

// Returns words for messages, e.g. "N(0,1)".
[[nodiscard]] std::string_view name(Distribution distribution);

// Returns the distributions to test `problem` with, small integers first: every distinct one (5, or
// 6 when a manifest's init is neither normal nor constant) and at least check.seeds. Beyond the
// distinct ones they repeat; their position in the list then makes them differ. Where the user
// gives inputs as files the manifest's come first, and the others need not be valid.
[[nodiscard]] std::vector<Distribution> choose_distributions(const Problem& problem);

// The same for one size: where contents were captured these come first, and other distributions
// only where there are floating-point inputs to draw.
[[nodiscard]] std::vector<Distribution> choose_distributions(const Problem& problem,
                                                             const Symbols& symbols);

// Fills `buffer` with elements of the argument's type. Every element depends on (seed, stream,
// index) only. Integer buffers always follow the manifest's init, because they may be indices that
// must stay in range, but for guessed ones under a distribution of integers; other distributions
// are for floating types, and not for constants. Expressions and contents that are one whole take
// fill_input.
void fill(const Argument& argument, Distribution distribution, std::uint64_t seed,
          std::uint64_t stream, std::span<std::byte> buffer);

// What input `stream` of the problem's arguments holds at these sizes, from its first byte on.
// Where contents were captured or are from a file, all but floating-point numbers are as they were.
void fill_input(const Problem& problem, const Argument& argument, const Symbols& symbols,
                Distribution distribution, std::uint64_t seed, std::size_t stream,
                std::span<std::byte> buffer);

// Whether its numbers are so large, small or none that hardware's special functions may give others
// than the interpreter's.
[[nodiscard]] bool is_extreme(Distribution distribution);

// Whether the argument is an input of integers within a range, given or guessed.
[[nodiscard]] bool has_range_of_integers(const Argument& argument);
// Such an argument with the least of them everywhere; others as they are.
[[nodiscard]] Argument with_equal_integers(Argument argument);

// Whether the argument is a buffer of integers whose values nobody said: a guess fills it.
[[nodiscard]] bool has_guessed_integers(const Argument& argument);

// Whether the argument's elements are, or have among their fields, floating-point numbers.
[[nodiscard]] bool has_floats(const Argument& argument);

}  // namespace regraph::verify
