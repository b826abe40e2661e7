// Sums that threads put together before they add them to memory, as if each thread added its part
// by itself. Used by grid_reduction.
//
//   slots[threadIdx.x] = mine; a tree over slots; if (threadIdx.x == 0) atomicAdd(total, slots[0]);
//     -> atomicAdd(total, mine);
//   mine = 0; for (...) mine += f; atomicAdd(total, mine);   ->  for (...) atomicAdd(total, f);
#pragma once

#include "rewrite/analysis/kernel_analysis.h"
#include "rewrite/forms/ir.h"

#include <optional>

namespace regraph::rewrite {

// The body of the single-exit form in this way; nothing where there is no such sum, or where it is
// used otherwise. What is added up in another order may round differently.
[[nodiscard]] std::optional<Block> with_disaggregated_atomics(const KernelAnalysis& kernel);

}  // namespace regraph::rewrite
