// Static single assignment of integers: those that change along a straight line of code, as a value
// for each change.
#pragma once

#include "rewrite/forms/ir.h"

namespace regraph::rewrite {

// Returns the kernel's body with names of their own for what integers become one after another:
//
//   int rest = i; int x = rest % w; rest /= w; int y = rest % h; rest /= h;
//     ->   const int rest_2 = rest / w; int y = rest_2 % h; const int rest_3 = rest_2 / h;
//
// Taken are integers of a thread that nothing but statements of one block changes, the block that
// declares them, by values that are not from memory. What nobody reads goes. For kernels without
// opaque code.
[[nodiscard]] Block with_single_assignments(const Kernel& kernel);

}  // namespace regraph::rewrite
