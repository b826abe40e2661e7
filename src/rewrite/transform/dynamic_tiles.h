// Shared arrays that are too large to be static. Used by async_pipeline.
#pragma once

#include "rewrite/forms/ir.h"

#include <cstdint>
#include <string>
#include <vector>

namespace regraph::rewrite {

struct DynamicTiles {
  Block body;
  std::int64_t bytes = 0;  // of dynamic shared memory
};

// Bytes of dynamic shared memory that the arrays, of scalars and known extents, take.
[[nodiscard]] std::int64_t dynamic_bytes(const std::vector<Variable>& tiles);

// The unit's kernel with its shared arrays `tiles` in dynamic shared memory, one behind the other.
// Dynamic arrays all start at the same address and have one dimension, so that each array's
// elements are counted from its place on. Every use of them has an index for each extent.
[[nodiscard]] DynamicTiles with_dynamic_tiles(const Unit& unit, const std::vector<Variable>& tiles);

}  // namespace regraph::rewrite
