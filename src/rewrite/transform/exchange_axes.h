// Code with the axes x and y of the thread space exchanged.
#pragma once

#include "source/ir.h"

namespace regraph::rewrite {

// Builtins along x become those along y, and the other way round.
[[nodiscard]] source::Block with_axes_exchanged(const source::Block& body);

}  // namespace regraph::rewrite
