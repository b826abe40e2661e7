// Vectors that hold numbers of another type: as arrays of these.
#pragma once

#include "rewrite/forms/ir.h"

namespace regraph::rewrite {

// Returns the kernel's body without variables and arrays of vector types that hold elements of
// another type, as 16-byte accesses to half do. Variables may only be copied, as they are or by
// memcpy, between memory, each other and arrays of the elements:
//
//   int4 bits = ((const int4*)(x + i))[0];         half pack[8];
//   half pack[8];  memcpy(&pack, &bits, 16);  ->   for (k = 0; k < 8; ++k) pack[k] = x[i + k];
//
// Of arrays, elements may be accessed, too, and two of half type set at once:
//
//   int4 data[2];                                   half data[16];
//   data[i] = ((const int4*)(x + j))[i];       ->   for (k = 0; k < 8; ++k)
//   sum += (float)((half*)data)[k];                   data[8 * i + k] = x[j + 8 * i + k];
//                                                   sum += (float)data[k];
// Where there were such variables, arrays that are copies of others become these (array_copies.h).
// For kernels without opaque code.
[[nodiscard]] Block with_packed_elements(const Kernel& kernel);

}  // namespace regraph::rewrite
