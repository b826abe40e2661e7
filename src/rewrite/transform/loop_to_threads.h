// Threads in place of a loop: each takes one of its iterations. Used by parallel_loop.
#pragma once

#include "rewrite/analysis/kernel_analysis.h"
#include "rewrite/analysis/parallel_loops.h"
#include "rewrite/forms/ir.h"

#include <string>

namespace regraph::rewrite {

// The form's body with the loop's iterations along an axis of the grid ("x", "y", "z") that the
// kernel does not use: the counter is the thread's global index there, and its condition a guard.
// Where `moved` is not empty, what the kernel did with `axis` it does with that axis.
[[nodiscard]] Block loop_on_axis(const KernelForm& form, const ParallelLoop& loop,
                                 const std::string& axis, const std::string& moved);

// The form's body with the loop's iterations as the fastest part of the global index along x: what
// was index i of thread i is that of threads i * iterations to (i + 1) * iterations - 1. Guards as
// `i < n` become such of the new index. For kernels that know their threads along x by the global
// index alone, and loops with `iterations_in_kernel`.
[[nodiscard]] Block loop_in_index(const KernelForm& form, const ParallelLoop& loop,
                                  const Problem& problem);

// The number of iterations as a polynomial of parameters that divides indices: a positive number or
// a product of parameters. Nothing where it is none.
[[nodiscard]] std::optional<Polynomial> iterations_in_kernel(const ParallelLoop& loop);

// n of a guard `i < n` about the thread's global index along x alone, of parameters; nothing for
// other expressions.
[[nodiscard]] std::optional<Polynomial> limit_of_index(const ExprPtr& guard,
                                                       const KernelForm& form);

}  // namespace regraph::rewrite
