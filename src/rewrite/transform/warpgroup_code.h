// What a matrix product of 16-bit factors becomes on Hopper's tensor cores. Used by wgmma.
//
//   copying warpgroup    waits until a stage is empty | begins its copies, which say when they are there:
//                        one thread for boxes (tensor_boxes.h), all threads where lines are not aligned
//   two multiplying ones wait until a stage is full   | wgmma on it; empties the stage before
//
// A block computes a tile of the result; strips of both factors lie in shared memory in several
// stages, each with two mbarriers, and the multiplying warpgroups share the tile's rows. Sums stay
// in registers (PTX ISA, wgmma.mma_async: m64nNk16) and go through shared memory in the end, so
// that neighbours are stored together. bench/tensor_cores measures it beside cuBLAS; prototypes
// whose strips were copied 16 bytes at a time, by a warpgroup of its own or by the threads that
// multiply, were slower on an H200.
#pragma once

#include "rewrite/forms/ir.h"
#include "rewrite/transform/tensor_tile.h"
#include "rewrite/transform/warpgroup_product.h"

namespace regraph::rewrite {

inline constexpr int kMultiplyingThreads = 2 * kWarpgroupThreads;

// The kernel's body. The grid has a block for every tile, along the axes of the factors; blocks are
// a row of kMultiplyingThreads + tile.copying_threads threads. `tile.layout` is panels.
[[nodiscard]] Block warpgroup_code(const KernelForm& form, const Launch& launch,
                                   const MatrixProduct& product, const TensorTile& tile);

}  // namespace regraph::rewrite
