// Names of names: const float total = sum; is sum.
#pragma once

#include "source/ir.h"

namespace regraph::rewrite {

// The kernel's body without declarations of scalars that are copies of another variable of the same
// type, where neither changes behind them: uses mean the other one.
[[nodiscard]] source::Block with_copies_propagated(const source::Kernel& kernel);

}  // namespace regraph::rewrite
