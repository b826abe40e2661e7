// What the use of tiles adds up over the strips. Used by slice_k.
#pragma once

#include "base/result.h"
#include "rewrite/analysis/reduction_loop.h"
#include "rewrite/analysis/strip_loop.h"

#include <string>
#include <vector>

namespace regraph::rewrite {

// A scalar, or an array of which every element is a reduction by itself.
struct StripAccumulator {
  Reduction reduction;
  std::vector<std::int64_t> extents;  // of an array
  // Whether it holds the value that changes nothing when the loop begins.
  bool starts_neutral = false;
};

// All that the strips hand on. Error: refused, where strips depend on each other in any other way,
// or their use writes global memory.
[[nodiscard]] Result<std::vector<StripAccumulator>> accumulators_of(
    const StripLoop& strips, const source::Kernel& kernel, const source::Analysis& analysis);

}  // namespace regraph::rewrite
