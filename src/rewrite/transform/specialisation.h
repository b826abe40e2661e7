// A version of a kernel for sizes that are one where it is to be fast: groups = 1. Used by
// implicit_gemm.
#pragma once

#include "kernel/problem.h"
#include "rewrite/forms/ir.h"

#include <optional>

namespace regraph::rewrite {

struct Specialised {
  Kernel kernel;
  ExprPtr condition;  // of the kernel's parameters, under which it does the same: groups == 1
};

// The kernel with integers that it divides by, and that are 1 at all sizes of the bench, as that
// number, worked out: c / (channels / groups) is 0 where c is below channels. Nothing where it
// divides by none of that kind.
[[nodiscard]] std::optional<Specialised> specialised(const Kernel& kernel, const Problem& problem);

}  // namespace regraph::rewrite
