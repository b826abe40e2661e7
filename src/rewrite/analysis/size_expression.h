// Sizes of the problem as kernel code.
#pragma once

#include "base/result.h"
#include "kernel/expression.h"
#include "kernel/problem.h"
#include "source/analysis.h"

#include <string>

namespace regraph::rewrite {

// Returns the expression over the kernel's integer parameters, or null when it holds a symbol that
// is none of them (or one the kernel changes) or a number beyond 32 bits. The value is computed in
// 64 bits when `wide`.
[[nodiscard]] source::ExprPtr size_in_kernel(const IntegerExpression& size,
                                             const source::Kernel& kernel,
                                             const source::Analysis& analysis, bool wide);

// The number of elements of the buffer, in the same way. Error: refused, where it is not known.
[[nodiscard]] Result<source::ExprPtr> buffer_length(const std::string& buffer,
                                                    const Problem& problem,
                                                    const source::Kernel& kernel,
                                                    const source::Analysis& analysis, bool wide);

}  // namespace regraph::rewrite
