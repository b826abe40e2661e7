// Loops whose iterations all take the same side of a choice. Used by async_pipeline.
#pragma once

#include "rewrite/forms/ir.h"
#include "rewrite/transform/names.h"

namespace regraph::rewrite {

// `for (...) { declarations; if (c) X else Y }`, where c is the same in all iterations, as
// `if (c) for (...) { declarations; X } else for (...) { declarations; Y }`, the second loop not
// written out. Other blocks are returned as they are.
[[nodiscard]] Block with_early_choice(Block block, Names& names);

}  // namespace regraph::rewrite
