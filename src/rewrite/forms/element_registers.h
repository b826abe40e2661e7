// Array elements that loops update, kept in registers.
#pragma once

#include "rewrite/forms/ir.h"

#include <string>
#include <vector>

namespace regraph::rewrite {

// Keeps an element of a buffer in a register while statements around a loop update it:
//   y[i] = 0; for (k) y[i] += a[k];   becomes   float y_value = 0; for (k) y_value += a[k];
//                                               y[i] = y_value;
// Only where the loop accesses the buffer at that one element, nothing on the way lets other
// threads see it (barriers, atomics, calls), and where the element was written before: loops that
// may not run at all write back under the condition that they do. Relies on buffers that do not
// overlap. Buffers in `raced` are left alone. Returns the kernel itself, with the same statements,
// where there is nothing to keep. For kernels without opaque code.
[[nodiscard]] Kernel with_elements_in_registers(const Kernel& kernel,
                                                const std::vector<std::string>& raced);

}  // namespace regraph::rewrite
