// Sums that are scaled for every value, as sums that are scaled when the largest value grows.
#pragma once

#include "rewrite/forms/ir.h"

namespace regraph::rewrite {

// Returns the kernel's body with the softmax of textbooks as online_fusion writes it, which is what
// steps look for (online_updates.h):
//   h = fmaxf(m, v); s = expf(m - h); w = expf(v - h); sum = sum * s + w * x; m = h;
//     ->  if (v > m) { s = expf(m - v); sum *= s; }
//         m = fmaxf(m, v); w = expf(v - m); sum += w * x;
// Where the maximum does not grow, s is exactly one. It is no number where v is none, or where v
// and m are the same infinity; then so is the weight, and the sum becomes none by what is added to
// it. For that each sum takes the weight, unconditionally, and m begins with less than infinity.
[[nodiscard]] Block with_scaled_sums(const Kernel& kernel);

}  // namespace regraph::rewrite
