// Locals with a name each.
#pragma once

#include "source/ir.h"

namespace regraph::loops {

// Renames locals and counters whose names are declared more than once: analyses know a counter's
// bounds by its name.
[[nodiscard]] source::Block with_distinct_names(const source::Kernel& kernel);

}  // namespace regraph::loops
