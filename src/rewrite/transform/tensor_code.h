// What a matrix product becomes on tensor cores. Used by tensor_core and skinny_gemm.
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

#include "rewrite/forms/ir.h"
#include "rewrite/transform/tensor_tile.h"

namespace regraph::rewrite {

// The kernel's body. The grid has a block for every tile, along the axes of the factors; blocks are
// a row of threads.
[[nodiscard]] Block tensor_code(const KernelForm& form, const Launch& launch,
                                const MatrixProduct& product, const TensorTile& tile);

}  // namespace regraph::rewrite
