// Packs of numbers that go through registers as bits: as the elements that they are.
#pragma once

#include "rewrite/forms/ir.h"

namespace regraph::rewrite {

// Returns the kernel's body without variables of vector types that only carry bits between memory
// and arrays of another type, as 16-byte accesses to half do:
//
//   int4 bits = ((const int4*)(x + i))[0];         half pack[8];
//   half pack[8];  memcpy(&pack, &bits, 16);  ->   for (k = 0; k < 8; ++k) pack[k] = x[i + k];
//
// An array that is a copy of another one is that one, where neither changes afterwards or the other
// is not used any more. For kernels without opaque code.
[[nodiscard]] Block with_packs_as_elements(const Kernel& kernel);

}  // namespace regraph::rewrite
