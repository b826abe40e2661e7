// Loops in which the threads of the grid, or of a block, take the elements in turn. Used by
// thread_per_element.
#pragma once

#include "base/result.h"
#include "kernel/expression.h"
#include "rewrite/analysis/independent_iterations.h"
#include "rewrite/analysis/kernel_analysis.h"
#include "rewrite/forms/ir.h"

#include <cstdint>
#include <set>
#include <string>

namespace regraph::rewrite {

// for (i = global index + offset; i < limit; i += number of threads), of the grid or of the block.
struct GridStrideLoop {
  const ForLoop* loop = nullptr;  // in the kernel's form with a single exit
  std::string counter;
  bool is_of_block = false;           // every block takes all elements, along x
  int axis = 0;                       // of the grid, 0 to 2
  Polynomial limit;                   // exclusive, of parameters
  Polynomial offset;                  // of parameters
  IterationEffects effects;           // not of a block's
  IntegerExpression elements;         // of sizes: limit - offset
  std::int64_t least = 0;             // elements at the problem's sizes
  std::set<std::string> header_only;  // locals that nothing but the loop's header needs
};

// The kernel's first loop of this kind, where its iterations do not depend on each other, ask for
// their thread by the counter alone, and nothing stands around it but values that every thread can
// work out. Error: refused, with the reason.
[[nodiscard]] Result<GridStrideLoop> grid_stride_loop(const KernelAnalysis& kernel);

// What iterations of a block's loop do, where the block's threads may be more: they do not depend
// on each other, and nothing stands around the loop but values that every thread can work out.
// Error: refused, with the reason.
[[nodiscard]] Result<IterationEffects> effects_of_block_loop(const KernelAnalysis& kernel,
                                                             const GridStrideLoop& loop);

}  // namespace regraph::rewrite
