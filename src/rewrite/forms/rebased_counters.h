// Loops that count from where a thread's own elements begin, as loops from zero.
#pragma once

#include "rewrite/forms/ir.h"

namespace regraph::rewrite {

// Returns the kernel's body with loops over a number of elements that is the same for all threads:
//   for (int at = row * n + lane; at < row * n + n; at += 32) s += a[at];
//     ->   for (int k = lane; k < n; k += 32) { const int at = row * n + k; s += a[at]; }
// What limit and first value have in common and differs between threads leaves the header. Loops
// where these could wrap around, or that threads go through together, stay as they are. For kernels
// without opaque code.
[[nodiscard]] Block with_rebased_counters(const Kernel& kernel);

}  // namespace regraph::rewrite
