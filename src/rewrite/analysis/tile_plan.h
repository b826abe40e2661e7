// Which arrays a contraction loop can stage in shared memory, and how. Used by smem_tile.
#pragma once

#include "affine/block_geometry.h"
#include "affine/footprint.h"
#include "affine/tile_guard.h"
#include "base/result.h"
#include "rewrite/analysis/vector_copy.h"
#include "rewrite/forms/ir.h"
#include "source/analysis.h"

#include <optional>
#include <string>
#include <vector>

namespace regraph::rewrite {

// How tiles are to be filled.
struct TileCopies {
  bool vectors = false;       // by vectors, where that is legal
  bool keeps_layout = false;  // tiles lie as the arrays do in memory
  int alignment = 0;          // of buffers, in bytes
};

// One array that is copied to shared memory.
struct StagedArray {
  std::string name;                  // the pointer parameter
  std::string type;                  // element type
  std::optional<ScalarType> scalar;  // none: a vector type
  std::string tile;                  // name of the shared array
  Footprint footprint;      // over thread indices, inner loops and the contraction variable
  bool wide_index = false;  // the original index is 64-bit
  // Coordinate variables of the copy, one a dimension: A_plane, A_row, A_column.
  std::vector<std::string> coordinates;
  // Conditions under which an element is part of the original's accesses, over the coordinates.
  std::vector<TileGuard> guards;
  bool follows_contraction = false;   // a dimension is indexed by the contraction variable
  std::optional<VectorCopy> vectors;  // nothing: it is copied an element at a time
  bool transposed = false;            // the last two dimensions of the tile are exchanged
  std::int64_t padding = 0;           // elements at the end of the tile's rows that nothing uses

  // Extents of the tile.
  [[nodiscard]] std::vector<std::int64_t> extents() const;
  // The tile's element for coordinates in the footprint's order.
  [[nodiscard]] ExprPtr element(std::vector<ExprPtr> at) const;
};

struct TilePlan {
  StmtPtr loop;
  CountedLoop counted;
  std::int64_t depth = 0;  // iterations staged at once
  std::string outer;       // first iteration of the stage, e.g. k0
  std::string inner;       // iteration within the stage, e.g. k1
  TileCopies copies;
  std::vector<StagedArray> arrays;
};

// Plans the staging of `loop`, which all threads of the normalised kernel reach. Error: refused,
// with the reason.
[[nodiscard]] Result<TilePlan> plan_tile(const Kernel& kernel, const Analysis& analysis,
                                         const StmtPtr& loop, const Dim3& block, std::int64_t depth,
                                         const TileCopies& copies);

}  // namespace regraph::rewrite
