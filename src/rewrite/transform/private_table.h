// Atomic updates of a table in global memory, collected in the block's shared memory. Used by
// atomic_privatize.
#pragma once

#include "kernel/launch_plan.h"
#include "rewrite/analysis/atomic_table.h"
#include "source/ir.h"

namespace regraph::rewrite {

// The kernel's body with `copies` of the table in shared memory, dynamic where the table's length
// is no constant: cleared in front, updated in its stead, merged into it at the end. The kernel has
// a single exit.
[[nodiscard]] source::Block with_private_table(const source::Kernel& kernel,
                                               const AtomicTable& table, int copies,
                                               const Dim3& block);

}  // namespace regraph::rewrite
