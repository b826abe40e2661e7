// Branches that do nothing but choose a value.
#pragma once

#include "source/ir.h"

namespace regraph::rewrite {

// Replaces branches whose two sides give the same place a value by one assignment of the value that
// the condition selects:
//   if (c) y[i] = a; else y[i] = b;   becomes   y[i] = c ? a : b;
// What stands on either side is still computed where it was only. Sides of different types are
// converted to the place's type, as the assignments did.
[[nodiscard]] source::Block with_selected_values(const source::Block& body);

}  // namespace regraph::rewrite
