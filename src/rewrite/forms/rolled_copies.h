// Statements that do the same at one place after the other, as a loop over the places.
#pragma once

#include "rewrite/forms/ir.h"

namespace regraph::rewrite {

// Returns the kernel's body with what a thread does for several elements, written out by hand, as a
// loop:
//   if (i < n) b[i] = f(a[i]); if (i + 1 < n) b[i + 1] = f(a[i + 1]); ... (three at least)
//     ->  for (int k = 0; k < 4; ++k) { if (i + k < n) b[i + k] = f(a[i + k]); }
// Copies are alike but for integers that go up by the same from each copy to the next, and for
// names that they declare for themselves; the loop does what they do, in their order. Of code that
// stands in no loop, and on lines of its own for each copy: what steps have unrolled stays.
[[nodiscard]] Block with_copies_rolled(const Kernel& kernel);

}  // namespace regraph::rewrite
