// Whether what the manifest says of values makes sense at a size.
#pragma once

#include "base/result.h"
#include "kernel/problem.h"

namespace regraph {

// The value of a scalar fits its type, the contents of a buffer have values that its type holds.
// Error: invalid_argument, which names argument, value and sizes; those of the expressions.
[[nodiscard]] Status check_values(const Argument& argument, const Symbols& symbols);

}  // namespace regraph
