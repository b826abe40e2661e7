// What loops carry from one iteration to the next, as PTX shows it.
//
// Registers of a set of instructions depend on each other; a cycle is something carried around a
// loop. It is an accumulation when each round combines it, by an operation that may be done in any
// order, with something new: sum += a[k] * b[k], but neither k += 1 nor x = x * a + b nor p = *p.
#pragma once

#include "ptx/interpreter.h"

#include <cstddef>
#include <vector>

namespace regraph {

struct Recurrences {
  int accumulations = 0;  // that do not depend on each other
  // Instructions that accumulate a product: multiply-adds whose sum is carried.
  std::vector<std::size_t> products;
};

// Of the instructions named, which must be all of some loops of `program`.
[[nodiscard]] Recurrences find_recurrences(const ptx::Program& program,
                                           const std::vector<std::size_t>& instructions);

}  // namespace regraph
