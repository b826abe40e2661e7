// The form steps work on: one way out of the kernel, guards around single statements.
#pragma once

#include "base/result.h"
#include "rewrite/forms/ir.h"

namespace regraph::rewrite {

// A copy of the kernel without early returns (early_exits.h), with conditions that have a name
// written out (named_conditions.h), directly nested branches merged, and guards pushed down to
// single statements, so that loops and barriers stand outside them:
//   if (g) { float s = 0; for (k) s += A[k]; C[i] = s; }
// becomes
//   float s = 0; for (k) { if (g) s += A[k]; } if (g) C[i] = s;
// Guards around code without loops or barriers stay as they are. Refuses where that would execute
// something it must not.
[[nodiscard]] Result<Kernel> normalised(const Kernel& kernel);

}  // namespace regraph::rewrite
