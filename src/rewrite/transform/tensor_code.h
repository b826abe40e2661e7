// What a matrix product becomes on tensor cores. Used by tensor_core.
//
// A block computes a tile of the result. Strips of both factors lie in shared memory in several
// stages: while one is multiplied, the next ones are on their way. A warp keeps its part of the
// tile in registers, in the fragments of mma.sync (PTX ISA, mma.m16n8k8): one factor fills its 16
// rows, the other its 8 columns, whichever way round fits how they lie.
//
// Which k a lane holds is free as long as both factors agree: place t of a group holds 2 t and
// 2 t + 1 of eight, so that a lane reads pairs. Places in shared memory are exchanged by exclusive
// or so that the lanes of an access meet different banks.
#pragma once

#include "rewrite/analysis/matrix_product.h"

#include <array>

namespace regraph::rewrite {

struct TensorTile {
  // Of the tile, of the part of it that a warp has, along the axis of each of the product's
  // factors.
  std::array<int, 2> tile = {128, 128};
  std::array<int, 2> warp = {64, 64};
  int depth = 16;  // of a strip
  int stages = 3;  // strips in shared memory

  [[nodiscard]] int threads() const { return tile[0] / warp[0] * (tile[1] / warp[1]) * 32; }
  [[nodiscard]] std::int64_t shared_bytes() const {
    return std::int64_t{4} * stages * depth * (tile[0] + tile[1]);
  }
};

// The kernel's body. The grid has a block for every tile, along the axes of the factors; blocks are
// a row of threads.
[[nodiscard]] source::Block tensor_code(const KernelForm& form, const Launch& launch,
                                        const MatrixProduct& product, const TensorTile& tile);

}  // namespace regraph::rewrite
