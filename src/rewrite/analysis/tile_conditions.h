// Conditions around what is read, as conditions on the coordinates of a tile. Used by tile_plan.
#pragma once

#include "base/result.h"
#include "rewrite/analysis/block_geometry.h"
#include "rewrite/analysis/footprint.h"
#include "rewrite/analysis/tile_plan.h"
#include "source/analysis.h"
#include "source/ir.h"

#include <string>

namespace regraph::rewrite {

// The strip that a tile holds.
struct TileStrip {
  const source::Analysis& analysis;
  const Dim3& block;
  const LocalSymbols& locals;      // (tile_uses.h)
  const std::string& contraction;  // the loop's counter
  const std::string& outer;        // the strip's first iteration
};

// Adds the guard as a condition on the array's coordinates. A condition on symbols the array's
// index does not use says nothing about which of its elements exist, and is dropped: some thread of
// the grid meets it, and that thread's accesses are the original's. Error: refused, where it is no
// comparison, or mixes both.
[[nodiscard]] Status add_tile_condition(const source::ExprPtr& guard, const TileStrip& strip,
                                        StagedArray& array);

}  // namespace regraph::rewrite
