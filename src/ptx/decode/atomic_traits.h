// What about an atomic instruction decides how fast hardware is at it.
#pragma once

#include "ptx/parse/module.h"

#include <vector>

namespace regraph::ptx {

struct AtomicTraits {
  bool floating = false;    // adds f16 to f64, which hardware does one after another
  bool halves = false;      // of f16 or bf16, one or several
  bool returns = false;     // somebody reads the old value
  bool increments = false;  // adds the constant 1 to 32 bits
  // ptxas makes a loop of it that loads and compares and swaps the 32 bits around it: one f16 or
  // bf16.
  bool swaps_words = false;
};

// One entry an instruction of the function; of instructions that are no atomics nothing is set.
[[nodiscard]] std::vector<AtomicTraits> atomic_traits(const Function& function);

}  // namespace regraph::ptx
