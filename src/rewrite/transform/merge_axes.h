// Two axes of a grid become one. Used by implicit_gemm.
#pragma once

#include "base/result.h"
#include "rewrite/analysis/kernel_analysis.h"
#include "rewrite/forms/ir.h"

#include <array>
#include <string>

namespace regraph::rewrite {

struct MergedAxes {
  Kernel kernel;
  Launch launch;
  ExprPtr width;  // threads along the fast axis that do something
  // What the kernel calls a thread's place along either axis, the fast one first: variables that it
  // declares at its beginning.
  std::array<std::string, 2> places;
};

// The kernel with its threads along `slow` and `fast` (0 to 2) in one row along `fast`, `width`
// after each other, and none along `slow`; its blocks have one thread along both. Threads of the
// fast axis that a guard stops are left out. Error: refused, where threads past the end of the grid
// could not be told.
[[nodiscard]] Result<MergedAxes> merge_axes(const KernelForm& form, const Launch& launch, int fast,
                                            int slow);

// Whether, for threads in that row, neighbours are neighbours in memory at every store to the
// array in the kernel before.
[[nodiscard]] bool is_row_major(const KernelForm& form, const Launch& launch, int fast, int slow,
                                const ExprPtr& width, const std::string& array);

}  // namespace regraph::rewrite
