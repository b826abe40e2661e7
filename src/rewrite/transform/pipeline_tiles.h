// A strip loop whose tiles arrive several strips ahead. Used by async_pipeline.
#pragma once

#include "rewrite/analysis/strip_loop.h"
#include "source/ir.h"

namespace regraph::rewrite {

// The kernel's body with `stages` copies of the tiles, filled by `copies`: the strip's copies as
// asynchronous ones.
[[nodiscard]] source::Block pipeline_tiles(const source::Kernel& kernel, const StripLoop& strips,
                                           const source::Block& copies, int stages);

}  // namespace regraph::rewrite
