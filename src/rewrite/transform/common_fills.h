// Shared arrays that threads fill by their number taken apart, as if each of them filled all of it.
// Used by untile.
//
//   s[tid / 8][tid % 8] = a[(tid / 8) * k + tid % 8];
// becomes
//   for (r = 0; r < 32; ++r) for (c = 0; c < 8; ++c) s[r][c] = a[r * k + c];
#pragma once

#include "kernel/launch_plan.h"
#include "rewrite/forms/ir.h"

namespace regraph::rewrite {

// The kernel's body in which statements that do nothing but to fill shared arrays, where all
// threads come by, are done by each thread for all threads: those that take a thread's number in
// the block apart by quotients and remainders, or shifts and masks. What the statements store to
// which element is the same, but who stores it; so the result is for analysis, and for code in
// which these arrays are gone. Where numbers are not taken apart by digits of one radix within the
// other, statements stay.
[[nodiscard]] Block with_common_fills(const Kernel& kernel, const Dim3& block);

}  // namespace regraph::rewrite
