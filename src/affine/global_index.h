// Kernels that know a thread by its global index alone, so that threads may be arranged anew.
#pragma once

#include "affine/ir.h"
#include "base/result.h"
#include "source/analysis.h"
#include "source/polynomial.h"

#include <optional>
#include <string>

namespace regraph::affine {

// blockIdx.a * blockDim.a + threadIdx.a, of the axis "x", "y" or "z".
[[nodiscard]] Polynomial global_index(const std::string& axis);

// The same as kernel code.
[[nodiscard]] ExprPtr global_index_code(const std::string& axis);

// An int in the type of `expr`, for which it stands.
[[nodiscard]] ExprPtr in_type_of(const Expr& expr, const ExprPtr& value);

// What the expression is where `index`, an int, has the value of `place`, a thread's place along
// the axis. Nothing where it does not ask for that. For kernels that know it as a whole only.
[[nodiscard]] std::optional<ExprPtr> with_index(const ExprPtr& expr, const std::string& axis,
                                                const Polynomial& place, const ExprPtr& index,
                                                const Analysis& analysis);

// Whether every polynomial of the kernel takes thread and block index along `letter` ("x", "y",
// "z") only as blockIdx.a * blockDim.a * C + (coarsening offset) * blockDim.a + threadIdx.a, C = 1
// where there is no coarsening. Error: refused, naming what is used besides.
[[nodiscard]] Status require_global_index(const Kernel& kernel, const Analysis& analysis,
                                          const std::string& letter);

// The same without coarsening: only as blockIdx.a * blockDim.a + threadIdx.a, or multiples of it.
[[nodiscard]] Status require_uncoarsened_index(const Kernel& kernel, const Analysis& analysis,
                                               const std::string& letter);

}  // namespace regraph::affine
