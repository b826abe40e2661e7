// Numbers of a kernel's own among its inputs: thresholds that ordinary inputs never meet.
#pragma once

#include "kernel/problem.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace regraph::verify {

enum class Sprinkling : std::uint8_t {
  values,      // them, their neighbours, multiples and what lies between two of them
  bits,        // fp32 numbers whose bits they are
  everywhere,  // the first of them in all elements
  highest,     // the same in some, and less in all others
  at_the_end,  // the first of them in some of the last elements, which vectors leave over
};

// Puts values in the place of every fourth element or so, unless `how` says where: of
// floating-point numbers, and of integers within what the manifest says of them. What does not fit
// the type is left out.
void sprinkle(const Argument& argument, const Symbols& symbols, std::span<const double> values,
              Sprinkling how, std::uint64_t seed, std::span<std::byte> buffer);

}  // namespace regraph::verify
