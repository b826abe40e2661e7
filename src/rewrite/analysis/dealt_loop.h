// Loops that are dealt out to the threads of a block in turn. Used by raised_rows.
#pragma once

#include "rewrite/analysis/block_row.h"
#include "source/analysis.h"
#include "source/ir.h"

#include <optional>

namespace regraph::rewrite {

// A loop of which each thread of the block does every so manieth iteration, as one over all of
// them.
struct DealtLoop {
  source::Variable counter;
  source::ExprPtr first;
  source::ExprPtr limit;
  source::Block body;
};

//   for (c = threadIdx.x + first; c < limit; c += blockDim.x) ...
// or in rounds:
//   for (round = 0; round < cdiv(n, blockDim.x); ++round) {
//     c = round * blockDim.x + threadIdx.x;  if (c < n) ...
//   }
// Nothing for other loops. With a 32-bit counter, where that reaches all that there is.
[[nodiscard]] std::optional<DealtLoop> dealt_loop(const source::ForLoop& loop,
                                                  const source::Analysis& analysis,
                                                  const BlockRow& row);

}  // namespace regraph::rewrite
