// Several sums that are added up in the end, as one.
#pragma once

#include "source/ir.h"

namespace regraph::rewrite {

// float s0 = 0, s1 = 0; for (...) { s0 += a; s1 += b; } out = s0 + s1;
//   ->   float s0 = 0; for (...) { s0 += a; s0 += b; } out = s0;
//
// for scalars of one block that begin with zero, are only added to, and are read only by one sum of
// them all; what that sum gives its value to, or adds it to, goes on in their place where nothing
// else was made of it before. Sums of floating point are rounded in another order. Chains get
// longer by it: of use where something else follows. For kernels without opaque code.
[[nodiscard]] source::Block with_partial_sums_merged(const source::Kernel& kernel);

}  // namespace regraph::rewrite
