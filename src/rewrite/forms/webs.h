// Scalars that hold one value after another, as a variable for each.
#pragma once

#include "rewrite/forms/ir.h"

namespace regraph::rewrite {

// Declares scalars where they get a value that nothing before depends on, under a name of its own
// for each such value (a web: the writes that reach common reads):
//   float t; int k;                                   for (int k = 0; k < n; ++k) {
//   for (k = 0; k < n; ++k) { t = a[k]; s += t; }  ->   const float t = a[k]; s += t; }
// Counters set right before their loop move into its header; values that nobody reads go. A
// variable that is declared where it gets its only such value stays as it is, and so do arrays and
// variables whose address is taken. For kernels without opaque code.
[[nodiscard]] Kernel with_webs_declared(const Kernel& kernel);

}  // namespace regraph::rewrite
