// An array in global memory that a kernel does nothing with but update it by one atomic function.
// Used by atomic_privatize.
#pragma once

#include "base/result.h"
#include "kernel/problem.h"
#include "rewrite/analysis/kernel_analysis.h"
#include "rewrite/forms/ir.h"

#include <string>

namespace regraph::rewrite {

struct AtomicTable {
  const KernelParameter* parameter = nullptr;
  std::string function;      // "atomicAdd", ...
  IntegerExpression length;  // in elements, by the problem's sizes
  ExprPtr length_in_kernel;  // null: not made of the kernel's parameters
};

// The kernel's first such array whose length is known. Error: refused, with what is in the way of
// the last that came close.
[[nodiscard]] Result<AtomicTable> find_atomic_table(const KernelForm& form, const Problem& problem);

// Whether all that reaches a table of several elements comes from shared memory, as
// atomic_privatize leaves it: each block updates each element once.
[[nodiscard]] bool merges_shared_memory(const KernelForm& form, const AtomicTable& table);

}  // namespace regraph::rewrite
