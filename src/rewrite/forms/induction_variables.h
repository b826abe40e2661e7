// Variables that go along with a loop's counter, written as what they are by that counter.
#pragma once

#include "rewrite/forms/ir.h"

namespace regraph::rewrite {

// at = x; for (int r = 0; r < n; ++r) { s += a[at]; at += w; }
//   ->   for (int r = 0; r < n; ++r) { s += a[at + r * w]; }
//
// for integers and pointers that every iteration moves on by the same, once and whatever else it
// does. Where the variable is needed after a loop of constant length, it is moved on by all of it
// there; else it must not be needed. Loops inside come first. For kernels without opaque code.
[[nodiscard]] Block without_induction_variables(const Kernel& kernel);

}  // namespace regraph::rewrite
