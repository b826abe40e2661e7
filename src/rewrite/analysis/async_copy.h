// Copies to shared tiles that the hardware can do by itself. Used by async_pipeline.
#pragma once

#include "base/result.h"
#include "rewrite/analysis/strip_copies.h"
#include "rewrite/forms/ir.h"
#include "source/analysis.h"

namespace regraph::rewrite {

// The statements of a copy with asynchronous copies in place of its loads and stores: an element of
// a tile from an element in global memory, or zero under a condition, and vectors of them where
// both ends are contiguous and aligned. Its condition and its loop are not included. Error:
// refused, where what is stored is more than an element as it was loaded.
[[nodiscard]] Result<Block> asynchronous(const CopyPart& part, const Analysis& analysis);

}  // namespace regraph::rewrite
