// Loads in front of a guard that only what is guarded needs, under it.
#pragma once

#include "rewrite/forms/ir.h"

namespace regraph::rewrite {

// The body with `float v = x[i]; if (i < n) y[i] = v;` as `if (i < n) { float v = x[i]; y[i] = v;
// }`: values from memory that are declared right in front of a branch without an else, and used in
// it alone. Compilers mostly read as late as that too, so that kernels are right whose loads would
// be beyond an array's end otherwise; where code is moved, they might not.
[[nodiscard]] Block with_sunk_loads(const Kernel& kernel);

}  // namespace regraph::rewrite
