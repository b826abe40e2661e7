// Which loops of a kernel could be done by threads of the grid instead. Used by parallel_loop.
#pragma once

#include "base/result.h"
#include "kernel/expression.h"
#include "rewrite/analysis/independent_iterations.h"
#include "rewrite/analysis/kernel_analysis.h"
#include "rewrite/forms/ir.h"

#include <vector>

namespace regraph::rewrite {

struct ParallelLoop {
  const ForLoop* loop = nullptr;  // in the kernel's form with a single exit
  CountedLoop counted;
  IterationEffects effects;
  Polynomial span;               // limit - first, of parameters
  IntegerExpression iterations;  // of sizes
  std::int64_t least = 0;        // iterations at the problem's sizes
  std::int64_t most = 0;
};

// The loops that qualify, outer ones first, in program order: counted, with bounds that are the
// same for all threads, iterations that do not depend on each other, and nothing outside of the
// loop but values that every thread can work out. Error: refused, where there are none, with why
// the first of them does not.
[[nodiscard]] Result<std::vector<ParallelLoop>> parallel_loops(const KernelAnalysis& kernel);

// Whether what the loop touches lies closer together from iteration to iteration than from thread
// to thread along x, at most places.
[[nodiscard]] bool iterations_lie_closer(const KernelForm& form, const ParallelLoop& loop,
                                         const Launch& launch, const Problem& problem);

}  // namespace regraph::rewrite
