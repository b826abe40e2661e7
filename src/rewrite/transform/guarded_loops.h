// Loops whose results are only used under a condition, under it.
#pragma once

#include "source/ir.h"

namespace regraph::rewrite {

// Returns the kernel's body with
//   float sum = 0;  for (..) sum += ..;  if (row < m) c[row] = sum;
// as
//   if (row < m) { float sum = 0; for (..) sum += ..; c[row] = sum; }
// where what stands in front of the last statement, a branch without an else that asks for nothing
// in memory, gives values to local variables alone, and these are used in it alone. What the
// condition needs stays in front. Nothing that threads do together is moved.
[[nodiscard]] source::Block with_guarded_loops(const source::Kernel& kernel);

}  // namespace regraph::rewrite
