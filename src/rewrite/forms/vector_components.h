// Vectors of a kernel's own as a variable for each of their components.
#pragma once

#include "rewrite/forms/ir.h"

namespace regraph::rewrite {

// float2 sums = make_float2(0, 0);       ->   float sums_x = 0;  float sums_y = 0;
// sums = make_float2(sums.x + v, sums.y + v * v);   ->   sums_x = sums_x + v;  sums_y = ...;
//
// for variables and shared arrays of CUDA's vectors of 32 and 64 bits a component, where nothing is
// done with a whole one but copying it to another such and making it of numbers. Others stay, and
// those that are made of their own components in another order.
[[nodiscard]] Block with_vector_components(const Kernel& kernel);

}  // namespace regraph::rewrite
