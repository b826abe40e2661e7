// Loops that count in 64 bits what fits 32, as loops of int.
#pragma once

#include "rewrite/forms/ir.h"

namespace regraph::rewrite {

// The body with `for (size_t k = 0; k < n; ++k)`, where first is a literal and limit an int or a
// literal that fits one, as `for (int k = 0; k < n; ++k)`; the body sees the counter in its old
// type. Limits that are negative as ints would have been as good as endless: no kernel has those.
[[nodiscard]] Block with_narrow_counters(const Kernel& kernel);

}  // namespace regraph::rewrite
