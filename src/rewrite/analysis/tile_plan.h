// Which arrays a contraction loop can stage in shared memory, and how. Used by smem_tile.
#pragma once

#include "affine/block_geometry.h"
#include "base/result.h"
#include "rewrite/analysis/stage.h"
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

struct TilePlan {
  StmtPtr loop;
  CountedLoop counted;
  std::int64_t depth = 0;  // iterations staged at once
  std::string outer;       // first iteration of the stage, e.g. k0
  std::string inner;       // iteration within the stage, e.g. k1
  TileCopies copies;
  // Boxes are over thread indices, inner loops and the contraction variable, which strips follow.
  std::vector<Stage> arrays;
};

// Plans the staging of `loop`, which all threads of the normalised kernel reach. Error: refused,
// with the reason.
[[nodiscard]] Result<TilePlan> plan_tile(const Kernel& kernel, const Analysis& analysis,
                                         const StmtPtr& loop, const Dim3& block, std::int64_t depth,
                                         const TileCopies& copies);

}  // namespace regraph::rewrite
