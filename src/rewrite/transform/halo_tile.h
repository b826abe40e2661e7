// How a convolution's product is laid out where a tile's inputs are loaded with a halo. Used by
// implicit_gemm.
#pragma once

#include "rewrite/analysis/tap_overlap.h"
#include "rewrite/forms/ir.h"
#include "rewrite/transform/tensor_tile.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

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
  // How the other factor's elements come to shared memory: loaded by threads; copied as they lie,
  // iterations behind each other or lines (GatheredFactor::dense), and sorted there; or copied to
  // where they belong (along_k).
  enum class Others : std::uint8_t { by_elements, in_order, by_lines, by_chunks };
  Others others = Others::by_elements;
  std::array<std::string, 2> places;  // what the kernel calls a thread's place along either axis

  static constexpr int kChunks = 2;  // of eight iterations
  static constexpr int kChunkBytes = 16;
  static constexpr int kStages = 2;  // of inputs

  [[nodiscard]] int inputs(std::size_t axis) const { return axes[axis].inputs(positions[axis]); }
  // Chunks of inputs in a stage, and of the other factor's elements.
  [[nodiscard]] int input_chunks() const { return kChunks * inputs(0) * inputs(1); }
  [[nodiscard]] int other_chunks(const TensorTile& tile) const {
    return kChunks * axes[0].trips * axes[1].trips * tile.tile[1 - factor];
  }
  // What the block needs, the tile's sums among it.
  [[nodiscard]] std::int64_t shared_bytes(const TensorTile& tile, std::size_t rows) const {
    const int copies = others == Others::by_elements ? 1 : 2;
    const std::int64_t chunks =
        std::int64_t{kStages} * input_chunks() + std::int64_t{copies} * other_chunks(tile);
    return std::max(chunks * kChunkBytes, std::int64_t{4} * tile.staged_elements(rows));
  }
};

}  // namespace regraph::rewrite
