// Which loops of a nest may be done by threads.
#pragma once

#include "affine/iteration_overlap.h"
#include "base/result.h"
#include "rewrite/analysis/kernel_analysis.h"
#include "source/counted_loop.h"

#include <set>
#include <string>
#include <vector>

namespace regraph::loops {

struct NestLoop {
  source::StmtPtr stmt;
  source::CountedLoop counted;
  bool is_free = false;  // any two iterations touch different elements, whatever the other loops do
};

struct ParallelNest {
  std::vector<NestLoop> chain;  // one in the other with nothing between them, outermost first
  source::Block innermost;      // the body of the last of them
  // Floating-point atomics: the order of the iterations decides how sums are rounded.
  bool rounds = false;

  [[nodiscard]] bool has_free_loop() const {
    for (const NestLoop& loop : chain) {
      if (loop.is_free) return true;
    }
    return false;
  }
};

// The chain of counted loops that begins with the statement, and which of them are free: proved by
// independent_iterations. Empty where the statement is no loop that counts.
[[nodiscard]] ParallelNest parallel_nest(const source::StmtPtr& stmt,
                                         const rewrite::KernelForm& form,
                                         const affine::IterationOverlap& overlap);

// What keeps iterations of a loop from running side by side.
struct LoopObstacle {
  std::string reason;             // with the two iterations that meet, and lines
  std::set<std::string> buffers;  // whose elements several iterations may touch
  bool is_memory_alone = true;    // nothing but those buffers stands in the way
};

// Of a loop of the chain that is not free.
[[nodiscard]] LoopObstacle obstacle_of(const ParallelNest& nest, std::size_t loop,
                                       const rewrite::KernelForm& form,
                                       const affine::IterationOverlap& overlap);

}  // namespace regraph::loops
