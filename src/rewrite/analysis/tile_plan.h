// Which arrays a contraction loop can stage in shared memory, and how. Used by smem_tile.
#pragma once

#include "base/result.h"
#include "rewrite/analysis/block_geometry.h"
#include "rewrite/analysis/footprint.h"
#include "source/analysis.h"

#include <string>
#include <vector>

namespace regraph::rewrite {

// One array that is copied to shared memory.
struct StagedArray {
  std::string name;                  // the pointer parameter
  std::string type;                  // element type
  std::optional<ScalarType> scalar;  // none: a vector type
  std::string tile;                  // name of the shared array
  Footprint footprint;      // over thread indices, inner loops and the contraction variable
  bool wide_index = false;  // the original index is 64-bit
  // Coordinate variables of the copy, one a dimension: A_row, A_column.
  std::vector<std::string> coordinates;
  // Conditions under which an element is part of the original's accesses, over the coordinates.
  std::vector<source::ExprPtr> guards;
  bool follows_contraction = false;  // a dimension is indexed by the contraction variable
};

struct TilePlan {
  source::StmtPtr loop;
  source::CountedLoop counted;
  std::int64_t depth = 0;  // iterations staged at once
  std::string outer;       // first iteration of the stage, e.g. k0
  std::string inner;       // iteration within the stage, e.g. k1
  std::vector<StagedArray> arrays;
};

// Plans the staging of `loop`, which all threads of the normalised kernel reach. Error: refused,
// with the reason.
[[nodiscard]] Result<TilePlan> plan_tile(const source::Kernel& kernel,
                                         const source::Analysis& analysis,
                                         const source::StmtPtr& loop, const Dim3& block,
                                         std::int64_t depth);

}  // namespace regraph::rewrite
