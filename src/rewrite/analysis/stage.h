// One array, or the part of it that a block reads, in shared memory: what is staged, how it lies
// there, and how it gets there. The code is made by stage_copy.h.
//
//   what: the box of the array, {stride, extent} a dimension in the order of memory, and where it begins
//   layout: dimensions in another order (`order`), rows with `padding` at their end
//   fill: by elements, or by vectors
#pragma once

#include "affine/access_map.h"
#include "affine/tile_guard.h"
#include "rewrite/analysis/shared_memory.h"
#include "rewrite/analysis/vector_copy.h"
#include "rewrite/forms/ir.h"
#include "rewrite/forms/names.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace regraph::rewrite {

// The iterations of a loop that are staged at once: one dimension follows its counter.
struct StagedStrip {
  std::size_t dimension = 0;
  std::string first;       // name of the strip's first iteration
  std::int64_t depth = 1;  // iterations
  ExprPtr limit;           // the loop's
};

struct Stage {
  std::string name;                  // the pointer parameter
  std::string type;                  // element type
  std::optional<ScalarType> scalar;  // none: a vector type
  std::string tile;                  // name of the shared array
  AccessMap box;                     // in the order of memory, largest stride first
  Polynomial strip_offset;           // what the strip's first iteration adds to indices of the box
  std::optional<StagedStrip> strip;  // where elements of iterations past the loop's end are zeros
  bool wide_index = false;           // the original index is 64-bit
  // Names of the copy's variables, one a dimension, counted from the first element of the box.
  std::vector<std::string> coordinates;
  // Conditions under which an element is part of the original's accesses, over the coordinates;
  // elsewhere the tile holds zeros.
  std::vector<TileGuard> guards;
  ExprPtr count;  // elements of the buffer, where the box may reach beyond it; null: guards say all

  std::vector<std::size_t> order;  // the dimension of the box for each of the tile; empty: the same
  std::int64_t padding = 0;        // elements at the end of the tile's rows that nothing uses
  bool is_aligned = false;         // the tile begins where the widest access may

  std::optional<VectorCopy> vectors;  // nothing: it is copied an element at a time
  // Whether guards are asked for each vector: some of a tile may meet them. Else once for all.
  bool asks_by_vector = false;

  // Extents of the tile.
  [[nodiscard]] std::vector<std::int64_t> extents() const;
  // The tile's declaration.
  [[nodiscard]] Variable variable() const;
  // The tile's element for coordinates in the order of the box.
  [[nodiscard]] ExprPtr element(const std::vector<ExprPtr>& at) const;
};

// Whether one of several stages is filled by vectors.
template <typename Stages>
[[nodiscard]] bool has_vectors(const Stages& stages) {
  return std::ranges::any_of(stages, [](const Stage& one) { return one.vectors.has_value(); });
}

// Bytes of shared memory that the tiles of several stages take.
template <typename Stages>
[[nodiscard]] std::int64_t bytes_of_tiles(const Stages& stages) {
  std::int64_t bytes = 0;
  for (const Stage& one : stages)
    bytes += bytes_of(one.variable());
  return bytes;
}

// Keeps the names of tiles and coordinates from being handed out.
template <typename Stages>
void take_names(const Stages& stages, Names& names) {
  for (const Stage& one : stages) {
    names.take(one.tile);
    for (const std::string& coordinate : one.coordinates)
      names.take(coordinate);
  }
}

// Lets rows of the box begin and end where vectors do, and sets how they are copied; unchanged
// where no row is made of whole vectors. `alignment` of the buffers, in bytes.
void fill_by_vectors(Stage& stage, int alignment, const SymbolFacts& facts);

}  // namespace regraph::rewrite
