// Sums whose terms are written out one by one, as loops.
#pragma once

#include "rewrite/forms/ir.h"

namespace regraph::rewrite {

// Returns the kernel's body with long sums of alike terms as loops over them:
//
//   float p = a[i] * b[j];  float q = p + a[i + 1] * b[j + n];  ...  c[i] = w;
//     ->  float w = -0.0f;  for (int k = 0; k < 16; ++k) w += a[i + k] * b[j + k * n];  c[i] = w;
//
// in one expression, through names that are used once, and by fmaf. Terms are alike but for
// integers that go up by the same from each to the next, are added in their order, and hold an
// array's element each; -0.0f changes no sum. Of statements in no loop that stand in the user's
// file: what steps have written out stays. For kernels without opaque code.
[[nodiscard]] Block with_sums_rolled(const Kernel& kernel);

}  // namespace regraph::rewrite
