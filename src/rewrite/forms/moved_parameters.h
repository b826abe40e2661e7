// Parameters that a kernel moves on, as pointers of its own that stay where they are.
#pragma once

#include "rewrite/forms/ir.h"

namespace regraph::rewrite {

// A += i * n;  for (...) { s += A[k];  A += 32; }
//   ->   const float* A1 = A + i * n;  for (...) { s += A1[k];  A1 += 32; }
//
// for pointers that are parameters or that the kernel's own block declares, as functions do that
// are taken into it: a new one wherever statements of that block move it on, and one at the first
// loop or branch that does. Not for pointers whose address is taken or whose name is declared
// again. For kernels without opaque code.
[[nodiscard]] Block without_moved_parameters(const Kernel& kernel);

}  // namespace regraph::rewrite
