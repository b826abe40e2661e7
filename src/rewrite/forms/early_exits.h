// Returns and continues as branches around what they skip.
#pragma once

#include "base/result.h"
#include "rewrite/forms/ir.h"

namespace regraph::rewrite {

// The body with one way out: `if (c) { A; return; } R` becomes `if (c) { A } else { R }`, also
// where returns stand in branches of branches. Error: refused, for returns in loops and those that
// skip only part of what follows.
[[nodiscard]] Result<Block> without_early_returns(const Block& body);

// The same for `continue` in the bodies of loops; those that skip only part of what follows stay.
[[nodiscard]] Block without_continues(const Block& body);

}  // namespace regraph::rewrite
