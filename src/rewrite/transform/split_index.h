// A thread's index in parts that have axes of their own. Used by delinearize.
#pragma once

#include "kernel/problem.h"
#include "rewrite/analysis/kernel_analysis.h"
#include "rewrite/forms/ir.h"
#include "source/polynomial.h"

#include <optional>
#include <string>
#include <vector>

namespace regraph::rewrite {

// Numbers, of parameters, that the kernel divides the threads' global index along `axis` ("x", "y",
// "z") by, also one after another: n and n * m where it computes i / n / m. Each once, in program
// order.
[[nodiscard]] std::vector<Polynomial> divisors_of_index(const KernelForm& form,
                                                        const std::string& axis);

// The form's body with the global index along `from` taken apart: its remainder by `divisor` is the
// global index along `from` afterwards, under a guard, its quotient that along `to`, which the
// kernel must not use. Quotients and remainders by the divisor, its factors and its multiples
// become those of the parts, and so do guards `index < n` where the divisor divides n. For kernels
// that know their threads along `from` by the global index alone.
[[nodiscard]] Block with_split_index(const KernelForm& form, const std::string& from,
                                     const std::string& to, const Polynomial& divisor,
                                     const Problem& problem);

}  // namespace regraph::rewrite
