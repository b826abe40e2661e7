// Integers that a loop advances beside its counter, as what they follow from.
#pragma once

#include "source/ir.h"

namespace regraph::rewrite {

// Puts first value and counter in the place of integers that every iteration advances alike:
//   int at = s;  for (r = 0; r < n; ++r) { y[at] = x[at]; at = at + w; }
// becomes
//   int at = s;  for (r = 0; r < n; ++r) { y[at + r * w] = x[at + r * w]; }
// Only where the loop counts up to a limit, goes through all of its body in every iteration, and
// the integer is declared in front of it and not used behind it. Returns the kernel with the same
// statements where there is nothing of that.
[[nodiscard]] source::Kernel with_derived_counters(const source::Kernel& kernel);

}  // namespace regraph::rewrite
