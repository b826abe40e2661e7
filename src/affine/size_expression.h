// Sizes of the problem as kernel code.
#pragma once

#include "affine/ir.h"
#include "base/result.h"
#include "kernel/expression.h"
#include "kernel/launch_plan.h"
#include "kernel/problem.h"
#include "source/analysis.h"
#include "source/polynomial.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace regraph::affine {

// Returns the expression over the kernel's integer parameters, or null when it holds a symbol that
// is none of them (or one the kernel changes) or a number beyond 32 bits. The value is computed in
// 64 bits when `wide`.
[[nodiscard]] ExprPtr size_in_kernel(const IntegerExpression& size, const Kernel& kernel,
                                     const Analysis& analysis, bool wide);

// The number of elements of the buffer, as kernel code in the same way as a size; a size that is no
// parameter, but the extent of the launch's grid along an axis, is gridDim (null launch: none is).
// Error: refused, where it is not known.
[[nodiscard]] Result<ExprPtr> buffer_length(const std::string& buffer, const Problem& problem,
                                            const Launch* launch, const Kernel& kernel,
                                            const Analysis& analysis, bool wide);

// The polynomial of the problem's sizes; nothing where a symbol is none of them.
[[nodiscard]] std::optional<IntegerExpression> size_of(const Polynomial& polynomial,
                                                       const Problem& problem);

// The same, where names that the kernel gives to values of sizes (Analysis::polynomial) stand for
// those values.
[[nodiscard]] std::optional<IntegerExpression> size_of(const Polynomial& polynomial,
                                                       const Problem& problem,
                                                       const Analysis& analysis);

// Whether the symbol is such a name.
[[nodiscard]] bool names_size(const std::string& symbol, const Analysis& analysis);
// The value with such names of the kernel's own block for what has one, where it is no polynomial
// without them: n / 32 * 32 is none of n.
[[nodiscard]] ExprPtr with_size_names(const ExprPtr& value, const Kernel& kernel,
                                      const Analysis& analysis);

// Whether every symbol is a parameter of the kernel that is no pointer.
[[nodiscard]] bool is_of_parameters(const Polynomial& polynomial, const Kernel& kernel);

// n of cdiv(n, divisor), and of (n + 15) / 16 where that is the divisor; nothing for other
// expressions.
[[nodiscard]] std::optional<IntegerExpression> dividend_of(const IntegerExpression& quotient,
                                                           const IntegerExpression& divisor);

// The sizes that the problem is tested and timed at.
[[nodiscard]] std::vector<std::reference_wrapper<const Symbols>> all_sizes(const Problem& problem);

// The number, or 1 where it is less: there is no grid of 0 blocks.
[[nodiscard]] IntegerExpression at_least_one(const IntegerExpression& number);

// Whether the value, of sizes, is below 2^31 at every size of the problem.
[[nodiscard]] bool fits_32_bits(const Polynomial& value, const Problem& problem);
// The same of names for sizes, too.
[[nodiscard]] bool fits_32_bits(const Polynomial& value, const Problem& problem,
                                const Analysis& analysis);

}  // namespace regraph::affine
