// What a contraction loop reads, and what differs between the threads and iterations that share a
// tile. Used by tile_plan.
#pragma once

#include "affine/access_map.h"
#include "affine/block_geometry.h"
#include "base/result.h"
#include "rewrite/forms/ir.h"
#include "source/analysis.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace regraph::rewrite {

// All accesses of one array in the loop.
struct ArrayUse {
  std::string name;
  Polynomial index;
  std::vector<ExprPtr> guards;
  bool wide = false;
  std::string obstacle;  // why it cannot be staged; empty: it can
};

struct TileUses {
  LocalSymbols locals;                             // threads, inner loops and the contraction
  std::map<std::string, std::int64_t> iterations;  // of inner loops
  std::vector<ArrayUse> arrays;                    // in global memory, in the order of their reads
};

// What the loop with that counter uses, of which `depth` iterations share a tile. Error: refused,
// where an inner loop has no constant length or the loop holds what cannot be staged around.
[[nodiscard]] Result<TileUses> tile_uses(const Stmt& loop, const std::string& counter,
                                         const Analysis& analysis, const Dim3& block,
                                         std::int64_t depth);

}  // namespace regraph::rewrite
