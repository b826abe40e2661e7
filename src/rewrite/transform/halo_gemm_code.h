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
#include "rewrite/transform/implicit_gemm_code.h"
#include "rewrite/transform/tensor_tile.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace regraph::rewrite {

// A tile whose lines along the axis of one factor are a box of positions.
struct HaloTile {
  std::size_t factor = 0;  // the one of the inputs
  // Fast and slow. Where the factor has one axis, the slow one has no taps and one position.
  std::array<TapAxis, 2> axes;
  std::array<int, 2> positions = {1, 1};  // powers of two, of which the fast one is 8 at least
  // Positions of the fast axis that lie one behind the other before those of the next row; null
  // where there is only one row.
  ExprPtr pitch;
  // How the other factor's elements come to shared memory: loaded by threads; copied as they lie
  // (GatheredFactor::dense), and sorted there; or copied to where they belong (along_k).
  enum class Others : std::uint8_t { by_elements, in_order, by_chunks };
  Others others = Others::by_elements;
  std::array<std::string, 2> places;  // what the kernel calls a thread's place along either axis

  static constexpr int kChunks = 2;  // of eight iterations
  static constexpr int kStages = 2;  // of inputs

  [[nodiscard]] int inputs(std::size_t axis) const { return axes[axis].inputs(positions[axis]); }
  // Chunks of inputs in a stage, and of the other factor's elements.
  [[nodiscard]] int input_chunks() const { return kChunks * inputs(0) * inputs(1); }
  [[nodiscard]] int other_chunks(const TensorTile& tile) const {
    return kChunks * axes[0].trips * axes[1].trips * tile.tile[1 - factor];
  }
  // What the block needs, the tile's sums among it.
  [[nodiscard]] std::int64_t shared_bytes(const TensorTile& tile, std::size_t rows) const;
};

// The kernel's body. As implicit_gemm_code (there), with a block for every tile of the halo's
// positions along the axis of its factor. The product has a chunked loop.
[[nodiscard]] Block halo_gemm_code(const KernelForm& form, const Launch& launch,
                                   const ImplicitGemm& gemm, const TensorTile& tile,
                                   const HaloTile& halo, const GeneralVersion* general = nullptr);

}  // namespace regraph::rewrite
