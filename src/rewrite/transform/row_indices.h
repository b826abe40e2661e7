// Code of one thread a row, for blocks in which several threads share one. Used by share_rows.
#pragma once

#include "source/ir.h"

namespace regraph::rewrite {

// The block with threadIdx.x and blockDim.x as rows see them: the row's number in the block, and
// how many it has. What becomes constant is folded.
[[nodiscard]] source::Block for_rows(const source::Block& block,
                                     const source::ExprPtr& row_in_block, int rows);

}  // namespace regraph::rewrite
