// How a matrix product is laid out on tensor cores, and what its code calls things. Used by
// tensor_copies and tensor_code.
#pragma once

#include "rewrite/analysis/matrix_product.h"
#include "rewrite/forms/ir.h"
#include "rewrite/forms/names.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace regraph::rewrite {

struct TensorTile {
  // Of the tile, of the part of it that a warp has, along the axis of each of the product's
  // factors.
  std::array<int, 2> tile = {128, 128};
  std::array<int, 2> warp = {64, 64};
  int depth = 16;           // of a strip
  int stages = 3;           // strips in shared memory
  bool is_dynamic = false;  // the strips lie in dynamic shared memory
  // Fragments are loaded a step ahead, across strips too, and a strip's copies are begun in parts
  // between the products; `depth` is an even number of steps then.
  bool ahead = false;

  static constexpr int kStepDepth = 8;  // of one instruction

  // In how many parts the copies of a strip are begun.
  [[nodiscard]] int parts() const { return ahead ? depth / kStepDepth - 1 : 1; }
  [[nodiscard]] int fragment_sets() const { return ahead ? 2 : 1; }
  [[nodiscard]] int threads() const { return tile[0] / warp[0] * (tile[1] / warp[1]) * 32; }
  [[nodiscard]] int strip_elements(std::size_t factor) const { return tile[factor] * depth; }
  [[nodiscard]] std::int64_t shared_bytes() const {
    return std::int64_t{4} * stages * depth * (tile[0] + tile[1]);
  }
};

// New names in a kernel, those of an array per factor.
struct TensorNames {
  TensorNames(Names& names, const MatrixProduct& product);

  std::array<std::string, 2> stages, first, in_warp, whole, inside, held, at, address, ahead;
  std::string tiles, thread, group, place, limit, sums, fill, stage, strip, next, inner, step, line,
      offset, to, e, i, j, h, pair, to_tf32, into, part, load, set, fill_inside, wanted, block, row,
      rows, in_rows, by;
  std::string counter;  // of the product's loop
};

// Where a place along k of a line lies in the strip of a factor whose neighbours in memory differ
// in k: groups of eight places are exchanged so that the lanes of an access meet all banks.
[[nodiscard]] std::string exchanged_along_k(const std::string& at, const std::string& line,
                                            int depth);

}  // namespace regraph::rewrite
