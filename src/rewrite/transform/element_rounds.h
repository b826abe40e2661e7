// Loops in which a thread takes elements of its block's tile in rounds, counted by the rounds. Used
// by untile.
//
//   for (row = top + threadIdx.y; row < min(top + 128, m); row += 16) f(row);
// becomes
//   for (round = 0; round < 8; ++round) {
//     const int row = top + threadIdx.y + round * 16;  if (row < m) f(row);
//   }
#pragma once

#include "kernel/launch_plan.h"
#include "rewrite/forms/ir.h"

namespace regraph::rewrite {

// The kernel's body with such loops: those that go on by as many elements as the block has threads
// along an axis, or a multiple, that run equally often for all threads but for another limit, and
// that hold no barrier and are not left early.
[[nodiscard]] Block with_element_rounds(const Kernel& kernel, const Dim3& block);

}  // namespace regraph::rewrite
