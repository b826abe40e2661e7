// Array elements that an iteration reads after the one before has stored them, in registers.
#pragma once

#include "rewrite/forms/ir.h"

#include <string>
#include <vector>

namespace regraph::rewrite {

// Hands what an iteration stores to the next one in a register, where that reads it from memory:
//   y[0] = a; for (i = 1; i < n; ++i) y[i] = y[i - 1] + x[i];
// becomes
//   float y_value = a; y[0] = y_value;
//   for (i = 1; i < n; ++i) { y_value = y_value + x[i]; y[i] = y_value; }
// Only where every iteration stores to the buffer once, reads it at that place and the one before
// alone, and nothing on the way lets other threads see it. Relies on buffers that do not overlap.
// Buffers in `raced` are left alone. Returns the kernel with the same statements where there is
// nothing to hand on. For kernels without opaque code and local pointers.
[[nodiscard]] Kernel with_previous_in_registers(const Kernel& kernel,
                                                const std::vector<std::string>& raced);

}  // namespace regraph::rewrite
