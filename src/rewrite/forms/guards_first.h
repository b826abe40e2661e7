// What is read under a guard, said in one way: the guard, the value, the zero of others.
#pragma once

#include "rewrite/forms/ir.h"

namespace regraph::rewrite {

// Returns the body with
//   row >= m || k >= n ? 0 : a[row * n + k]   as   row < m && k < n ? a[row * n + k] : 0
// where the condition can be turned round without a `!`: it compares integers alone; and
//   if (row >= m) {} else { ... }             as   if (row < m) { ... }
// which early returns of functions leave that were taken into the kernel.
[[nodiscard]] Block with_guards_first(const Block& body);

}  // namespace regraph::rewrite
