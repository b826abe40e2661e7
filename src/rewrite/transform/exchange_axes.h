// Code with the axes x and y of the thread space exchanged.
#pragma once

#include "rewrite/forms/ir.h"

namespace regraph::rewrite {

// Builtins along x become those along y, and the other way round.
[[nodiscard]] Block with_axes_exchanged(const Block& body);

}  // namespace regraph::rewrite
