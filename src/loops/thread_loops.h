// Loops of a nest as threads of a grid.
#pragma once

#include "base/result.h"
#include "kernel/launch_plan.h"
#include "kernel/problem.h"
#include "loops/parallel_nest.h"
#include "source/analysis.h"

#include <string>
#include <vector>

namespace regraph::loops {

struct ThreadLoops {
  source::Block body;  // of the kernel
  Launch launch;
  std::vector<std::string> counters;    // that became threads: of z, y and x, as far as there are
  std::vector<std::string> sequential;  // of the chain's other loops
  int depth = 0;                        // loops of the nest, one in the other
};

// Up to three free loops of the nest become axes: the innermost x, the outermost others y and z.
// Error: unsupported, where no free loop's bounds give a grid.
[[nodiscard]] Result<ThreadLoops> as_threads(const ParallelNest& nest,
                                             const source::Analysis& analysis,
                                             const source::Kernel& kernel, const Problem& problem);

}  // namespace regraph::loops
