// Tiles that a thread keeps in an array of one index, as arrays of two. Used by untile.
//
//   float acc[64] = {};                                 float acc[8][8] = {};
//   for (i < 8) for (j < 8) acc[i * 8 + j] += ..;   ->  for (i < 8) for (j < 8) acc[i][j] += ..;
#pragma once

#include "rewrite/forms/ir.h"

namespace regraph::rewrite {

// The kernel's body in which arrays of the thread's own with one index, which counters of loops
// always make as a number of two digits of the same radix, have two. Loops that store one value to
// all elements in turn are two loops then. Others stay.
[[nodiscard]] Block with_array_axes(const Kernel& kernel);

}  // namespace regraph::rewrite
