// Headers of loops that go strip by strip, in the form that loop_coalescing.h knows.
#pragma once

#include "kernel/launch_plan.h"
#include "rewrite/forms/ir.h"

namespace regraph::rewrite {

// Returns the kernel's body with
// - numbers in the place of names and extents of the block in headers of loops: k < blockDim.x;
// - loops that hold a barrier, or a loop through as many things as they go on by, counted by ones
//   from zero:
//     for (int a = first; a < limit; a += 16)  ->  for (int t = 0; t < (limit - first + 15) / 16; ++t)
//   and what goes along with them written by t;
// - loops of constant length that end at another limit if that comes first, with a guard instead:
//     for (k = 0; k < 16 && t * 16 + k < n; ++k) f(k)  ->  for (..; k < 16; ++k) if (..) f(k)
//   where what is counted goes up, so that it is beyond the limit from then on.
[[nodiscard]] Block with_plain_strips(const Kernel& kernel, const Dim3& block);

}  // namespace regraph::rewrite
