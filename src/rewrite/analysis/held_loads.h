// Elements that an iteration of a loop may read ahead and keep in registers. Used by scan_loop.
#pragma once

#include "rewrite/analysis/scan_loop.h"
#include "source/analysis.h"
#include "source/ir.h"

#include <vector>

namespace regraph::rewrite {

// The elements of global arrays that `part`, some statements of the loop's body, reads in every
// iteration, or in all where a condition holds that no iteration changes. Their places follow from
// the loop's counter and from what is known before the loop. Where the loop stores to such an
// array, it must read first.
[[nodiscard]] std::vector<HeldLoad> held_loads(const source::Block& part,
                                               const source::ForLoop& loop,
                                               const source::Kernel& kernel,
                                               const source::Analysis& analysis);

}  // namespace regraph::rewrite
