// Arrays of vectors that hold numbers of another type: as arrays of these.
#pragma once

#include "rewrite/forms/ir.h"

namespace regraph::rewrite {

// Returns the kernel's body with arrays of vector types as arrays of the elements that they are
// used as, where all that is done with them is to copy vectors to and from memory, to access
// elements, and to set two of half type at once:
//
//   int4 data[2];                                   half data[16];
//   data[i] = ((const int4*)(x + j))[i];       ->   for (k = 0; k < 8; ++k)
//   sum += (float)((half*)data)[k];                   data[8 * i + k] = x[j + 8 * i + k];
//                                                   sum += (float)data[k];
// For kernels without opaque code.
[[nodiscard]] Block with_vector_arrays_as_elements(const Kernel& kernel);

}  // namespace regraph::rewrite
