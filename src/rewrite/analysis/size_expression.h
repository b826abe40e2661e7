// Sizes of the problem as kernel code.
#pragma once

#include "kernel/expression.h"
#include "source/analysis.h"

namespace regraph::rewrite {

// Returns the expression over the kernel's integer parameters, or null when it holds a symbol that
// is none of them (or one the kernel changes) or a number beyond 32 bits. The value is computed in
// 64 bits when `wide`.
[[nodiscard]] source::ExprPtr size_in_kernel(const IntegerExpression& size,
                                             const source::Kernel& kernel,
                                             const source::Analysis& analysis, bool wide);

}  // namespace regraph::rewrite
