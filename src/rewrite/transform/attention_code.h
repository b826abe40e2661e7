// What attention becomes on tensor cores. Used by tensor_attention.
//
// A block has a tile of rows of queries, a warp sixteen of them or thirty-two, and goes over tiles
// of keys and values in shared memory, the next of which are on their way. Scores stay in the
// fragments of mma.sync (PTX ISA, mma.m16n8k16): those of the sums of one product are, rounded to
// 16 bits, the factor of the next. Tiles that no row of the block needs are left out, and only
// those at a border ask which keys a row has.
#pragma once

#include "rewrite/analysis/attention_pattern.h"
#include "rewrite/forms/ir.h"
#include "rewrite/transform/attention_tile.h"

namespace regraph::rewrite {

// The kernel's body. The grid has a block for every tile of queries, along the pattern's axis;
// blocks are a row of threads.
[[nodiscard]] Block attention_code(const AttentionPattern& pattern, const AttentionTile& tile);

}  // namespace regraph::rewrite
