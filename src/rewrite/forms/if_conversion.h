// If-conversion: branches that do nothing but choose a value, as the choice.
#pragma once

#include "rewrite/forms/ir.h"

namespace regraph::rewrite {

// Returns the kernel's body with one assignment of the value that the condition selects in the
// place of branches whose two sides give the same place a value, or that keep an integer within a
// limit:
//   if (c) y[i] = a; else y[i] = b;         becomes   y[i] = c ? a : b;
//   if (c) { A; y[i] = a; } else y[i] = b;  becomes   float y_value;
//                                                     if (c) { A; y_value = a; } else y_value = b;
//                                                     y[i] = y_value;
//   int e = i + 8; if (e > n) e = n;        becomes   int e = i + 8 > n ? n : i + 8;
// What stands on either side is still computed where it was only. Sides of different types are
// converted to the place's type, as the assignments did. Sides with loops or barriers stay.
[[nodiscard]] Block if_converted(const Kernel& kernel);

}  // namespace regraph::rewrite
