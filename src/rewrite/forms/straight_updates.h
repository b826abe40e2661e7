// Integers that straight code changes, as one constant after another.
#pragma once

#include "source/ir.h"

namespace regraph::rewrite {

// Returns the kernel's body with a name for each value of an integer that the block which declares
// it changes itself, in no loop and under no condition:
//   int y = p - 1; int end = y + 3; y = max(y, 0);
//     ->  int y = p - 1; int end = y + 3; const int y_2 = max(y, 0);
// For kernels without opaque code.
[[nodiscard]] source::Block with_straight_updates(const source::Kernel& kernel);

}  // namespace regraph::rewrite
