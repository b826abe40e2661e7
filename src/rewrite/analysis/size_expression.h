// Sizes of the problem as kernel code.
#pragma once

#include "base/result.h"
#include "kernel/expression.h"
#include "kernel/problem.h"
#include "source/analysis.h"
#include "source/polynomial.h"

#include <optional>
#include <string>

namespace regraph::rewrite {

// Returns the expression over the kernel's integer parameters, or null when it holds a symbol that
// is none of them (or one the kernel changes) or a number beyond 32 bits. The value is computed in
// 64 bits when `wide`.
[[nodiscard]] source::ExprPtr size_in_kernel(const IntegerExpression& size,
                                             const source::Kernel& kernel,
                                             const source::Analysis& analysis, bool wide);

// The number of elements of the buffer, as kernel code in the same way as a size. Error: refused,
// where it is not known.
[[nodiscard]] Result<source::ExprPtr> buffer_length(const std::string& buffer,
                                                    const Problem& problem,
                                                    const source::Kernel& kernel,
                                                    const source::Analysis& analysis, bool wide);

// The polynomial of the problem's sizes; nothing where a symbol is none of them.
[[nodiscard]] std::optional<IntegerExpression> size_of(const source::Polynomial& polynomial,
                                                       const Problem& problem);

// Whether every symbol is a parameter of the kernel that is no pointer.
[[nodiscard]] bool is_of_parameters(const source::Polynomial& polynomial,
                                    const source::Kernel& kernel);

// n of cdiv(n, divisor), and of (n + 15) / 16 where that is the divisor; nothing for other
// expressions.
[[nodiscard]] std::optional<IntegerExpression> dividend_of(const IntegerExpression& quotient,
                                                           const IntegerExpression& divisor);

// Whether the value, of sizes, is below 2^31 at every size of the problem.
[[nodiscard]] bool fits_32_bits(const source::Polynomial& value, const Problem& problem);

}  // namespace regraph::rewrite
