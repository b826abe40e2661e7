// The strips of a tiled loop, dealt out to slices of a block. Used by slice_k.
#pragma once

#include "kernel/launch_plan.h"
#include "rewrite/analysis/strip_accumulators.h"
#include "rewrite/analysis/strip_loop.h"
#include "source/ir.h"

#include <vector>

namespace regraph::rewrite {

// Bytes of shared memory that the kernel declares with `slices` slices of `block` threads each.
[[nodiscard]] std::int64_t sliced_shared_bytes(const source::Kernel& kernel,
                                               const StripLoop& strips,
                                               const std::vector<StripAccumulator>& accumulators,
                                               const Dim3& block, int slices);

// The kernel's body for a block that is `slices` deep along z. The strip loop stands at the top of
// the kernel.
[[nodiscard]] source::Block slice_strips(const source::Kernel& kernel, const StripLoop& strips,
                                         const std::vector<StripAccumulator>& accumulators,
                                         const Dim3& block, int slices);

}  // namespace regraph::rewrite
