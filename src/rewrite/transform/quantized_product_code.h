// What a product of 4-bit weights and a vector becomes on tensor cores. Used by quantized_gemv.
//
// A block has some rows, whose words its warps share out. Four lanes load words of a row, as many
// vectors of them as the warp's fragments have rows, and multiply them with elements of the vector
// by mma.sync (PTX ISA, mma.m16n8k16), whose columns are all the same. Weights become numbers of 16
// bits two at a time, as bits of the mantissa of 1024 (half) or of 128 (bfloat16), which is exact;
// a word's weights are multiplied in an order in which that takes the fewest instructions.
#pragma once

#include "rewrite/analysis/quantized_product.h"
#include "rewrite/forms/ir.h"

namespace regraph::rewrite {

struct QuantizedTile {
  int warps = 4;
  int rows = 16;       // of a block, a multiple of 16
  int alignment = 16;  // of buffers, in bytes

  static constexpr int kLanes = 4;  // that share a row
  [[nodiscard]] int threads() const { return 32 * warps; }
  // Of a multiprocessor, for which threads may have 64 registers, or 128 where they have more rows.
  [[nodiscard]] int blocks() const { return 32 / warps * 16 / rows; }
};

// The kernel's body. The grid has a block for every tile of rows along the product's axis; blocks
// are a row of threads.
[[nodiscard]] Block quantized_product_code(const QuantizedProduct& product,
                                           const QuantizedTile& tile);

}  // namespace regraph::rewrite
