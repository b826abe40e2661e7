// Whether a candidate's output buffer is the original's, up to rounding.
#pragma once

#include "kernel/problem.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::verify {

// How the original computes, as far as rounding errors depend on it.
struct Arithmetic {
  double reduction_length = 1.0;        // terms summed into one output element
  bool special_functions = false;       // exp, log, ...: approximations may differ
  bool accumulates_in_half = false;     // the sums themselves are in fp16
  bool adds_halves_atomically = false;  // each sum of fp16 or bf16 in an order of its own
};

// Relative tolerance tau of a floating type; 0 means bit for bit (integers, bool). From the
// rounding analysis of sums: errors grow like u * sqrt(K), and 4 u sqrt(K) separates honest
// reorderings of fp32 sums from tf32 or fp16 arithmetic by a factor of ten or more for K up to 16
// k.
[[nodiscard]] double tolerance(ScalarType type, const Arithmetic& arithmetic,
                               const CheckPolicy& check, const Assumptions& assume);

struct BufferComparison {
  bool equal = true;
  std::string message;          // when not equal; names index, got and expected
  double relative_error = 0.0;  // ||actual - expected||_2 / ||expected||_2 over finite elements
};

// One output buffer. `untouched` marks elements (1) that the original does not write; it may be
// empty when it writes all. `before` is what the buffer held before the launch; where nothing is
// untouched it may be empty, and messages then say less. Where only some elements are compared,
// `places` says which of the buffer they are; empty: all, in order.
struct OutputView {
  const Argument& argument;
  std::span<const std::int64_t> extents;  // of the shape, outermost first, for messages
  std::span<const std::byte> expected;
  std::span<const std::byte> actual;
  std::span<const std::byte> before;
  std::span<const std::uint8_t> untouched;
  std::span<const std::uint64_t> places = {};
  // What the buffer holds is the user's: messages name places, not values.
  bool is_private = false;
  bool by_element = false;  // every element is judged by its own magnitude
  bool zero_signs = false;  // -0 is not 0
  double slack = 0.0;       // an absolute error that counts for nothing
};

// What decides how exact an argument's elements have to be: its type; of structures fp32 where a
// field is, else another floating type of a field.
[[nodiscard]] ScalarType judged_type(const Argument& argument);

// Compares an output: elements the original writes must agree, all others must be as before.
//   relative error <= tau;  every |e_i| <= 8 tau (|ref_i| + rms(ref));  NaN and infinities in the
//   same places with the same sign.
// Of structures every field is compared as its type asks for.
// `exact` asks for equal values bit for bit (-0 equals 0 but for zero_signs, any NaN any NaN).
[[nodiscard]] BufferComparison compare(const OutputView& view, double tau, bool exact);

// Whether `values` (fp32 or fp64) are small multiples of 1/16, as sums and products of small
// integers are: then no rounding happened on the way to them and any order of summation gives the
// same bits.
[[nodiscard]] bool exactly_representable(const Argument& argument,
                                         std::span<const std::byte> values,
                                         std::span<const std::uint8_t> untouched);

}  // namespace regraph::verify
