// Loops that count by statements of their own, as loops that say so in their header.
#pragma once

#include "rewrite/forms/ir.h"

namespace regraph::rewrite {

// Moves what ends a loop's body and advances what the loop asks about into its header, with what
// leaves it in the beginning:
//   for (;;) { if (i >= n) break; s += a[i]; i = i + 1; }   ->   for (; i < n; i += 1) s += a[i];
// What else leaves it in the beginning once a counter that goes up is too large is a guard around
// the rest, and i != n of a signed counter that goes up by one is i < n. Loops that are left or go
// on from anywhere else stay as they are. webs.h moves the counter's
// first value there.
[[nodiscard]] Block with_counted_loops(const Block& body);

}  // namespace regraph::rewrite
