// Loads by way of the read-only cache as plain ones.
#pragma once

#include "rewrite/forms/ir.h"

namespace regraph::rewrite {

// The body with `x[i]` in the place of `__ldg(&x[i])` and `__ldg(x + i)`: the element may come to
// lie elsewhere, in shared memory or in a register. For kernels whose buffers are known not to
// overlap, to which restrict_ldg gives such loads back.
[[nodiscard]] Block with_plain_loads(const Kernel& kernel);

}  // namespace regraph::rewrite
