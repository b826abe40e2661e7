// What a contraction loop reads, and what differs between the threads and iterations that share a
// tile. Used by tile_plan.
#pragma once

#include "base/result.h"
#include "rewrite/analysis/block_geometry.h"
#include "rewrite/analysis/footprint.h"
#include "source/analysis.h"
#include "source/ir.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace regraph::rewrite {

// All accesses of one array in the loop.
struct ArrayUse {
  std::string name;
  source::Polynomial index;
  std::vector<source::ExprPtr> guards;
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
[[nodiscard]] Result<TileUses> tile_uses(const source::Stmt& loop, const std::string& counter,
                                         const source::Analysis& analysis, const Dim3& block,
                                         std::int64_t depth);

// The index with the block's extents filled in and axes of extent 1 dropped; nothing where it is no
// polynomial.
[[nodiscard]] std::optional<source::Polynomial> local_polynomial(const source::ExprPtr& expr,
                                                                 const source::Analysis& analysis,
                                                                 const Dim3& block);

}  // namespace regraph::rewrite
