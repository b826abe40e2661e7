// What a convolution becomes on tensor cores. Used by implicit_gemm.
//
// A block computes a tile of the product of two matrices that are nowhere in memory: k counts the
// iterations of all loops. Strips of both lie in shared memory twice: while one is multiplied, the
// elements of the next one are loaded, into registers, because each has an address and a condition
// of its own, or by asynchronous copies where neighbours along k are neighbours in memory. Lanes of
// a warp gather neighbours along the factor's axis of the grid, for the same eight k.
#pragma once

#include "rewrite/analysis/implicit_gemm.h"
#include "rewrite/forms/ir.h"
#include "rewrite/transform/tensor_tile.h"

namespace regraph::rewrite {

// A kernel of which the product is only that of a specialised version.
struct GeneralVersion {
  const KernelForm& form;  // with the same axes
  ExprPtr condition;       // under which the specialised version does the same
};

// The kernel's body. The grid has a block for every tile, along the axes of the factors; blocks are
// a row of threads. The tile's strips are panels in dynamic shared memory, in two stages, and a
// factor's lines divide the number of threads. Where `form` is a specialised version, the tile's
// elements are computed as `general` does where that is no version of it (null: none).
[[nodiscard]] Block implicit_gemm_code(const KernelForm& form, const Launch& launch,
                                       const ImplicitGemm& gemm, const TensorTile& tile,
                                       const GeneralVersion* general = nullptr);

}  // namespace regraph::rewrite
