// Kernels that know a thread by its global index alone, so that threads may be arranged anew.
#pragma once

#include "affine/ir.h"
#include "base/result.h"
#include "source/analysis.h"
#include "source/polynomial.h"

#include <string>

namespace regraph::affine {

// blockIdx.a * blockDim.a + threadIdx.a, of the axis "x", "y" or "z".
[[nodiscard]] Polynomial global_index(const std::string& axis);

// An int in the type of `expr`, for which it stands.
[[nodiscard]] ExprPtr in_type_of(const Expr& expr, const ExprPtr& value);

// Whether every polynomial of the kernel takes thread and block index along `letter` ("x", "y",
// "z") only as blockIdx.a * blockDim.a * C + (coarsening offset) * blockDim.a + threadIdx.a, C = 1
// where there is no coarsening. Error: refused, naming what is used besides.
[[nodiscard]] Status require_global_index(const Kernel& kernel, const Analysis& analysis,
                                          const std::string& letter);

// The same without coarsening: only as blockIdx.a * blockDim.a + threadIdx.a, or multiples of it.
[[nodiscard]] Status require_uncoarsened_index(const Kernel& kernel, const Analysis& analysis,
                                               const std::string& letter);

}  // namespace regraph::affine
