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

#include <cstdint>

namespace regraph::rewrite {

struct AttentionTile {
  int queries = 64;  // of a block
  int keys = 64;     // of a tile
  int warps = 4;
  int stages = 2;  // tiles of keys and of values in shared memory
  // Values of masked keys may be infinite or no numbers, which zero would not take away.
  bool guards_values = true;

  [[nodiscard]] int threads() const { return 32 * warps; }
  [[nodiscard]] int rows_of_warp() const { return queries / warps; }
  // Of rows of so many elements of 16 bits, in panels of 128 bytes.
  [[nodiscard]] static int panels(int elements);
  // Of shared memory.
  [[nodiscard]] std::int64_t bytes(const AttentionPattern& pattern) const;
};

// The kernel's body. The grid has a block for every tile of queries, along the pattern's axis;
// blocks are a row of threads.
[[nodiscard]] Block attention_code(const AttentionPattern& pattern, const AttentionTile& tile);

}  // namespace regraph::rewrite
