// What a convolution becomes on tensor cores where neighbouring elements read the same inputs for
// different taps. Used by implicit_gemm.
//
//   inputs of a tile in shared memory            a tap's factor: the box of positions, moved
//   . . . . . .                                  [x x x x] . .        . [x x x x] .
//   . . . . . .                                  [x x x x] . .        . [x x x x] .
//   . . . . . .                                   . . . . . .         . . . . . .
//
// A block loads the inputs of its tile, a box of positions and a halo around it, for sixteen
// iterations of the chunked loop, each once, and multiplies them tap by tap: a tap's fragments lie
// where those of another one do, a fixed number of inputs further on. Eight iterations of an input
// are neighbours in shared memory, so that ldmatrix reads them from anywhere. The next inputs are
// loaded into registers while these are multiplied, and the next elements of the other factor (the
// filters) copied; those are sorted by taps in between, for which other blocks fill the time.
// Compare Zhang et al., "High Performance Zero-Memory Overhead Direct Convolutions", 2018, where
// blocks of channels are innermost, too.
#pragma once

#include "rewrite/analysis/implicit_gemm.h"
#include "rewrite/forms/ir.h"
#include "rewrite/transform/halo_tile.h"
#include "rewrite/transform/implicit_gemm_code.h"
#include "rewrite/transform/tensor_tile.h"

namespace regraph::rewrite {

// The kernel's body. As implicit_gemm_code (there), with a block for every tile of the halo's
// positions along the axis of its factor. The product has a chunked loop.
[[nodiscard]] Block halo_gemm_code(const KernelForm& form, const Launch& launch,
                                   const ImplicitGemm& gemm, const TensorTile& tile,
                                   const HaloTile& halo, const GeneralVersion* general = nullptr);

}  // namespace regraph::rewrite
