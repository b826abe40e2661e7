// Loops that are dealt out to the threads of a block in turn. Used by row_serialisation and
// block_size.
#pragma once

#include "rewrite/analysis/block_row.h"
#include "rewrite/forms/ir.h"
#include "source/analysis.h"

#include <optional>

namespace regraph::rewrite {

// A loop of which each thread of the block does every so manieth iteration, as one over all of
// them.
struct BlockStrideLoop {
  Variable counter;
  ExprPtr first;
  ExprPtr limit;
  Block body;
};

//   for (c = threadIdx.x + first; c < limit; c += blockDim.x) ...
// or in rounds:
//   for (round = 0; round < cdiv(n, blockDim.x); ++round) {
//     c = round * blockDim.x + threadIdx.x;  if (c < n) ...
//   }
// Nothing for other loops. With a 32-bit counter, where that reaches all that there is.
[[nodiscard]] std::optional<BlockStrideLoop> block_stride_loop(const ForLoop& loop,
                                                               const Analysis& analysis,
                                                               const BlockRow& row);

// Whether the threads of a block ask for their place in it, and for how many they are, only to
// share out such loops by blockDim.x, and for what the first thread does alone. Then a block of any
// extent does the same: no thread keeps a value from one of its iterations to the next.
[[nodiscard]] bool only_block_strides(const Block& body, const Analysis& analysis,
                                      const BlockRow& row);

}  // namespace regraph::rewrite
