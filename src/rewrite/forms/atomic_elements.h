// Atomics by the sum of a pointer and a number as atomics on an element.
#pragma once

#include "rewrite/forms/ir.h"

namespace regraph::rewrite {

// The body with `atomicAdd(&x[i], v)` in the place of `atomicAdd(x + i, v)`, x a parameter.
[[nodiscard]] Block with_atomic_elements(const Kernel& kernel);

}  // namespace regraph::rewrite
