// Arrays of a thread that are copies of others.
#pragma once

#include "rewrite/forms/ir.h"

namespace regraph::rewrite {

// Returns the kernel's body with the other array in the place of one that is a copy of it, where
// neither changes afterwards or the other is not used any more:
//   T x[8] = {y[0], ..., y[7]};   or   for (k = 0; k < 8; ++k) x[k] = y[k];
// For kernels without opaque code.
[[nodiscard]] Block without_array_copies(const Kernel& kernel);

}  // namespace regraph::rewrite
