// Thread serialisation of kernels with a block a row: one thread does all of it. Used by
// row_kernel and quantized_gemv.
//
//   for (c = threadIdx.x; c < n; c += blockDim.x) sum += x[..];   ->   for (c = 0; c < n; ++c) ...
//   slots[threadIdx.x] = sum; a tree over slots; ... slots[0]     ->   ... sum
//   values[threadIdx.x] = best; places[threadIdx.x] = place; a tree over pairs; ... -> ... best, place
//   if (threadIdx.x == 0) y[blockIdx.x] = ...;                    ->   y[row] = ...;
#pragma once

#include "base/result.h"
#include "rewrite/analysis/kernel_analysis.h"
#include "rewrite/forms/ir.h"

namespace regraph::rewrite {

// The state with one thread a row, in blocks of several rows where the grid's extent is known in
// the kernel. What the threads of a block do between two barriers may happen in any order, so it
// may happen one after another. Error: refused: a thread is asked for in any other way, what a
// thread adds up is used before the tree, or begins with a value that the tree would count several
// times.
[[nodiscard]] Result<KernelState> serialise_rows(const KernelAnalysis& kernel);

}  // namespace regraph::rewrite
