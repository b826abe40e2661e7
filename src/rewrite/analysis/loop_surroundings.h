// What stands around a loop that other threads are to share. Used by parallel_loop and
// thread_per_element.
#pragma once

#include "rewrite/analysis/independent_iterations.h"
#include "rewrite/forms/ir.h"
#include "source/analysis.h"

#include <optional>
#include <string>

namespace regraph::rewrite {

// Why what stands around the loop, beside it, in front of it and behind it cannot be done by every
// thread that takes an iteration; nothing where it is but values that each can work out. `effects`
// are the loop's. The kernel has no early returns.
// `short_loops`: loops of a few iterations are such values, too, which every thread would run.
[[nodiscard]] std::optional<std::string> obstacle_around(const ForLoop& loop, const Kernel& kernel,
                                                         const Analysis& analysis,
                                                         const IterationEffects& effects,
                                                         bool short_loops = false);

}  // namespace regraph::rewrite
