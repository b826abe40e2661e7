// A strip loop whose tiles arrive several strips ahead. Used by async_pipeline.
#pragma once

#include "rewrite/analysis/strip_loop.h"
#include "rewrite/forms/ir.h"

namespace regraph::rewrite {

// The kernel's body with `stages` copies of the tiles, filled by `copies`: the strip's copies as
// asynchronous ones.
[[nodiscard]] Block pipeline_tiles(const Kernel& kernel, const StripLoop& strips,
                                   const Block& copies, int stages);

}  // namespace regraph::rewrite
