// Elements of which functions get the address.
#pragma once

#include "rewrite/forms/ir.h"

namespace regraph::rewrite {

// The body with `x[i]` in the place of `__ldg(&x[i])` and `__ldg(x + i)`: the element may come to
// lie elsewhere, in shared memory or in a register. For kernels whose buffers are known not to
// overlap, to which restrict_ldg gives such loads back.
[[nodiscard]] Block with_plain_loads(const Kernel& kernel);

// The body with `atomicAdd(&x[i], v)` in the place of `atomicAdd(x + i, v)`, x a parameter.
[[nodiscard]] Block with_atomic_elements(const Kernel& kernel);

}  // namespace regraph::rewrite
