// Thread serialisation: blocks whose threads are the elements of a row, as if one thread did all
// that they do. Used by attention
// and row_kernel.
//
//   q = query[blockIdx.x * 64 + threadIdx.x];          ->  for (e) q[e] = query[row * 64 + e];
//   for (t) {                                              for (t) {
//     slots[threadIdx.x] = q * keys[t * 64 + threadIdx.x];   total = 0;
//     a tree over slots;                                     for (e) total += q[e] * keys[t * 64 + e];
//     m = fmaxf(m, slots[0]);                                m = fmaxf(m, total);
//   }                                                      }
#pragma once

#include "base/result.h"
#include "rewrite/analysis/kernel_analysis.h"
#include "rewrite/forms/ir.h"

namespace regraph::rewrite {

// The state with one thread a block, in blocks of several where the grid's extent is known in the
// kernel. What differs between threads becomes an array with an element for each, what does not
// stays as it is; a statement is done for all elements before the next one is, which is one of the
// orders that barriers leave open. Error: refused: threads share more than trees, or there are
// none, control flow around barriers differs between threads, or a thread would keep too much.
[[nodiscard]] Result<KernelState> serialise_threads(const KernelAnalysis& kernel);

// The same for threads that are to be dealt the row anew: loops over its elements without a pragma,
// and nothing kept of an element from one loop to the next. Refused, too, where an element would
// have to be: what a thread computes of what nobody writes is computed again.
[[nodiscard]] Result<KernelState> serialise_elements(const KernelAnalysis& kernel);

}  // namespace regraph::rewrite
