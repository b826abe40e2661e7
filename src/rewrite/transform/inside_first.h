// Choices that ask whether something is at a border, asking whether it is inside.
#pragma once

#include "rewrite/forms/ir.h"

namespace regraph::rewrite {

// Returns the block with choices between two parts turned round where one of several conditions is
// enough for the first, so that all of the opposite ones are needed for the second, and each may be
// dropped where it is known to hold:
//   x == 0 || x == n - 1 ? a : b   ->   x != 0 && x != n - 1 ? b : a
[[nodiscard]] Block with_inside_first(const Block& block);

}  // namespace regraph::rewrite
