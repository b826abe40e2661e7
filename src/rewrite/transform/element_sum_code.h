// A sum over all elements, put together by the threads of a block before it is added. Used by
// grid_reduction.
#pragma once

#include "rewrite/transform/element_sum.h"
#include "source/ir.h"

namespace regraph::rewrite {

struct SumShape {
  int threads = 0;  // of a block, a power of two, at least a warp
  int width = 0;    // elements next to each other that a thread takes, as vectors
  int rounds = 0;   // how often it does so
  [[nodiscard]] int elements_per_block() const { return threads * width * rounds; }
};

// The kernel's body:
//
//   sum = 0; first = blockIdx.x * elements_per_block;
//   if (first + elements_per_block <= n) for each round: a vector of each stream, width elements
//   else for (i = first + threadIdx.x; i < n; i += threads) an element
//   sum of the block by shuffles; if (threadIdx.x == 0) atomicAdd(total, sum);
[[nodiscard]] source::Block element_sum_code(const KernelForm& form, const ElementSum& sum,
                                             const SumShape& shape);

}  // namespace regraph::rewrite
