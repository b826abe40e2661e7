// Two loops in one that carries the largest value so far. Used by online_fusion.
#pragma once

#include "rewrite/analysis/online_loops.h"

namespace regraph::rewrite {

// The kernel's body with the loops as one, in the place of the second. Sums are scaled down when
// the maximum grows.
[[nodiscard]] source::Block with_online_loop(const source::Kernel& kernel,
                                             const OnlineLoops& loops);

}  // namespace regraph::rewrite
