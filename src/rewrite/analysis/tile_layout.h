// How tiles that are filled by vectors lie in shared memory. Used by tile_plan.
#pragma once

#include "rewrite/analysis/footprint.h"
#include "rewrite/analysis/tile_plan.h"

#include <string>

namespace regraph::rewrite {

// Sets whether the array's tile is transposed, and its padding. `contraction`: the counter of the
// loop; `locals`: extents of the indices within the block. Tiles that keep the layout of memory are
// never transposed.
void lay_out_tile(StagedArray& array, const std::string& contraction, const LocalSymbols& locals,
                  bool keeps_layout);

}  // namespace regraph::rewrite
