// Local names for positions in a buffer, which hide from the index analyses what is accessed.
#pragma once

#include "rewrite/forms/ir.h"

namespace regraph::rewrite {

// Replaces uses of pointers that are defined once as `parameter + offset` (and of pointers made
// from those) by the parameter: row[c] with row = x + i * n becomes x[i * n + c]. Pointers that are
// assigned again, compared or handed on stay as they are.
[[nodiscard]] Kernel without_local_pointers(const Kernel& kernel);

// Only of pointers that are a parameter under another name, as views of buffers leave them.
[[nodiscard]] Kernel without_buffer_names(const Kernel& kernel);

}  // namespace regraph::rewrite
