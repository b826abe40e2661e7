// Conditions that hold anyway.
#pragma once

#include "kernel/launch_plan.h"
#include "rewrite/forms/ir.h"

namespace regraph::rewrite {

// Drops the terms of conditions, of branches and of selections, that follow from the conditions
// around them and from the bounds of the loops that they stand in; branches that are always taken
// become blocks, those that never are go. Remainders of what is below the divisor anyway are the
// value itself, i / w % h where i < w * h, and quotients of it are 0. The kernel itself where
// nothing follows.
[[nodiscard]] Block without_dead_guards(const Kernel& kernel);
// The same for blocks of so many threads: what holds for all their indices goes as well.
[[nodiscard]] Block without_dead_guards(const Kernel& kernel, const Dim3& block);

}  // namespace regraph::rewrite
