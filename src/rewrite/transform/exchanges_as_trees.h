// What threads of a block put together of each other's values, however they do it, as a tree over
// shared memory: the form that steps look for. Used by row_serialisation.
//
//   for (d = 16; d > 0; d /= 2) s += __shfl_down_sync(all, s, d);
//   if (lane == 0) part[warp] = s;                        slots[threadIdx.x] = s;
//   __syncthreads();                                 ->   __syncthreads();
//   s = threadIdx.x < 8 ? part[lane] : 0;                 a tree over slots;
//   for (d = 4; d > 0; d /= 2) s += ...;                  s = slots[0];
#pragma once

#include "kernel/launch_plan.h"
#include "rewrite/analysis/kernel_analysis.h"
#include "rewrite/forms/ir.h"

#include <optional>

namespace regraph::rewrite {

// The kernel of the form with trees for all such exchanges; nothing where there is none, or where
// something else is left of one: what lanes without a partner got, a part of the block's sum.
// Exchanges that steps wrote stay. Sums are put together in another order.
[[nodiscard]] std::optional<Kernel> with_exchanges_as_trees(const KernelForm& form,
                                                            const Dim3& block);

}  // namespace regraph::rewrite
