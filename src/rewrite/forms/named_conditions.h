// Conditions that have a name, as `bool inside = i < n; if (inside) ...`, written out.
#pragma once

#include "rewrite/forms/ir.h"

namespace regraph::rewrite {

// Returns the body with every use of a local that stands for a condition replaced by the condition:
// comparisons, and what && || ! make of them, of values that never change and are not read from
// memory. Their declarations go. What is no such condition keeps its name.
[[nodiscard]] Block with_conditions_written_out(const Kernel& kernel);

}  // namespace regraph::rewrite
