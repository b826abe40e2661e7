// A thread for each block that there was. Used by row_serialisation and thread_serialisation.
#pragma once

#include "rewrite/analysis/kernel_analysis.h"
#include "rewrite/forms/ir.h"

namespace regraph::rewrite {

// The state in which one thread does `body`, which is what a block of the form did, and asks for
// blockIdx.x and blockDim.x as the block did. Several rows share a block where the grid's extent is
// known in the kernel.
[[nodiscard]] KernelState with_thread_a_row(const KernelAnalysis& kernel, const KernelForm& form,
                                            const Block& body);

}  // namespace regraph::rewrite
