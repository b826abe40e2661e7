// Small arrays of integers that are asked by numbers alone, as a variable for each element.
#pragma once

#include "rewrite/forms/ir.h"

namespace regraph::rewrite {

// Returns the kernel's body without arrays of a thread's own integers whose elements are known by
// number once short loops around them are written out:
//
//   const int size[2] = {w, h};
//   for (int k = 0; k < 2; ++k) { at += rest % size[k] * 3; rest /= size[k]; }
//     ->   const int size_0 = w; const int size_1 = h;
//          at += rest % size_0 * 3; rest /= size_0; at += rest % size_1 * 3; rest /= size_1;
//
// Only loops are written out that do nothing but such index arithmetic: they change integers of the
// thread and read no memory. Arrays that are asked by anything else stay, with the loops that ask.
// For kernels without opaque code.
[[nodiscard]] Block with_table_values(const Kernel& kernel);

}  // namespace regraph::rewrite
